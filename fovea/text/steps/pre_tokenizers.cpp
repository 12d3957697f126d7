#include "fovea/text/steps/pre_tokenizers.h"

#include <type_traits>

#include "fovea/text/steps/byte_level.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea::text {

namespace {

// Cuts where the class of the characters changes. `kind(c)` is any number; pieces of kind `drop`
// are left out, characters of kind `alone` stand alone.
template <class Kind>
void split_by_kind(std::string_view s, ByteRange within, int drop, int alone, Kind kind,
                   std::vector<ByteRange>& out) {
    std::uint32_t begin = within.begin;
    int current = -1;
    for (std::uint32_t i = within.begin; i < within.end;) {
        const Utf8Char c = read_char(s.data() + i);
        const int k = kind(c.code);
        if (k != current || k == alone) {
            if (i > begin && current != drop) out.push_back({begin, i});
            begin = i;
            current = k;
        }
        i += static_cast<std::uint32_t>(c.size);
    }
    if (within.end > begin && current != drop) out.push_back({begin, within.end});
}

constexpr int nothing = -2;
enum Kind : int { other, space, punctuation, word_char };

void split_bert(std::string_view s, ByteRange r, std::vector<ByteRange>& out) {
    split_by_kind(
        s, r, space, punctuation,
        [](char32_t c) -> int {
            const unsigned f = char_flags(c);
            return f & is_space ? space : f & is_punctuation ? punctuation : other;
        },
        out);
}

void split_whitespace(std::string_view s, ByteRange r, std::vector<ByteRange>& out) {
    split_by_kind(
        s, r, space, nothing,
        [](char32_t c) -> int {
            const unsigned f = char_flags(c);
            return f & is_word ? word_char : f & is_space ? space : other;
        },
        out);
}

void split_spaces(std::string_view s, ByteRange r, std::vector<ByteRange>& out) {
    split_by_kind(
        s, r, space, nothing, [](char32_t c) -> int { return has(c, is_space) ? space : other; },
        out);
}

void split_digits(std::string_view s, ByteRange r, bool each, std::vector<ByteRange>& out) {
    split_by_kind(
        s, r, nothing, each ? 1 : nothing,
        [](char32_t c) -> int { return has(c, is_numeric) ? 1 : 0; }, out);
}

// The script that a character joins: kana and the prolonged sound mark go with Han.
int joined_script(char32_t c) {
    static const int han = script_of(U'京'), hiragana = script_of(U'い'),
                     katakana = script_of(U'グ');
    if (c == 0x30FC) return han;
    if (c == ' ') return 0;
    const int s = script_of(c);
    return s == hiragana || s == katakana ? han : s;
}

// Cuts where the script changes; characters of every script (0) join what stands before them, and
// before the first other character they are dropped (as tokenizers does).
void split_scripts(std::string_view s, ByteRange r, std::vector<ByteRange>& out) {
    int last = -1;
    bool open = false;
    std::uint32_t begin = r.begin;
    for (std::uint32_t i = r.begin; i < r.end;) {
        const Utf8Char c = read_char(s.data() + i);
        const int k = joined_script(c.code);
        if (k != 0 && k != last) {
            if (open) out.push_back({begin, i});
            open = true;
            begin = i;
            last = k;
        }
        i += static_cast<std::uint32_t>(c.size);
    }
    if (open) out.push_back({begin, r.end});
}

void split_fixed(std::string_view s, ByteRange r, std::int64_t length,
                 std::vector<ByteRange>& out) {
    std::uint32_t begin = r.begin;
    std::int64_t n = 0;
    for (std::uint32_t i = r.begin; i < r.end; ++n) {
        if (n == length) {
            out.push_back({begin, i});
            begin = i;
            n = 0;
        }
        i += static_cast<std::uint32_t>(utf8_size(s[i]));
    }
    if (r.end > begin) out.push_back({begin, r.end});
}

void match_chars(std::string_view s, ByteRange r, unsigned flags, std::vector<ByteRange>& matches) {
    matches.clear();
    for (std::uint32_t i = r.begin; i < r.end;) {
        const Utf8Char c = read_char(s.data() + i);
        const auto end = i + static_cast<std::uint32_t>(c.size);
        if (has(c.code, flags)) matches.push_back({i, end});
        i = end;
    }
}

// Spaces become the mark, a mark is put before the piece where the scheme wants one, and (split)
// every mark opens a word.
void metaspace(const pretokenizer::Metaspace& m, NormalizedText& text,
               std::vector<ByteRange>& words, PreTokenizerScratch& scratch) {
    std::vector<ByteRange>& out = scratch.pieces;
    out.clear();
    {
        const std::string& s = text.text();
        const char32_t mark = read_char(m.replacement.data()).code;
        const std::string_view view(s);
        TextEdit edit(text, scratch.normalizer.spare);
        for (const ByteRange& w : words) {
            while (edit.position() < w.begin) edit.skip();
            auto begin = static_cast<std::uint32_t>(edit.written());
            const auto cut = [&] {
                const auto here = static_cast<std::uint32_t>(edit.written());
                if (m.split && here > begin) out.push_back({begin, here});
                if (m.split) begin = here;
            };
            const char32_t first = edit.peek().code;
            if (first != ' ' && first != mark &&
                (m.prepend_scheme == PrependScheme::always ||
                 (m.prepend_scheme == PrependScheme::first && text.at_start(w.begin)))) {
                edit.replace(mark);
                edit.insert(first);
            }
            while (edit.position() < w.end) {
                std::size_t plain = edit.position();
                while (plain < w.end && s[plain] != ' ' &&
                       (s[plain] != m.replacement[0] ||
                        view.compare(plain, m.replacement.size(), m.replacement) != 0))
                    ++plain;
                edit.keep_until(plain);
                if (plain < w.end) {
                    cut();
                    edit.replace(mark);
                }
            }
            const auto end = static_cast<std::uint32_t>(edit.written());
            if (end > begin) out.push_back({begin, end});
        }
    }
    words.swap(out);
}

// A space before every piece that has none, then GPT-2's pattern.
void byte_level_words(const pretokenizer::ByteLevel& b, NormalizedText& text,
                      std::vector<ByteRange>& words, PreTokenizerScratch& scratch) {
    std::vector<ByteRange>& out = scratch.pieces;
    if (b.add_prefix_space) {
        const std::string& s = text.text();
        if (words.size() == 1 && words[0].begin == 0 && words[0].end == s.size()) {
            if (s[0] != ' ') {
                text.prepend(" ");
                ++words[0].end;
            }
        } else if (!words.empty()) {
            out.clear();
            {
                TextEdit edit(text, scratch.normalizer.spare);
                for (const ByteRange& w : words) {
                    while (edit.position() < w.begin) edit.skip();
                    const auto begin = static_cast<std::uint32_t>(edit.written());
                    const char32_t first = edit.peek().code;
                    if (first != ' ') {
                        edit.replace(' ');
                        edit.insert(first);
                    }
                    edit.keep_until(w.end);
                    out.push_back({begin, static_cast<std::uint32_t>(edit.written())});
                }
            }
            words.swap(out);
        }
    }
    if (!b.use_regex) return;
    out.clear();
    const std::string_view s = text.text();
    for (const ByteRange& w : words) {
        const std::string_view piece = s.substr(0, w.end);
        for (std::size_t i = w.begin; i < w.end;) {
            const std::size_t end = scan_gpt2(piece, i);
            out.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(end)});
            i = end;
        }
    }
    words.swap(out);
}

void spell_words(NormalizedText& text, std::vector<ByteRange>& words,
                 PreTokenizerScratch& scratch) {
    TextEdit edit(text, scratch.normalizer.spare);
    for (ByteRange& w : words) {
        while (edit.position() < w.begin) edit.skip();
        const auto begin = static_cast<std::uint32_t>(edit.written());
        while (edit.position() < w.end) {
            const Utf8Char c = edit.peek();
            char bytes[4];
            write_char(c.code, bytes);
            edit.replace(byte_to_char(static_cast<unsigned char>(bytes[0])));
            for (int i = 1; i < c.size; ++i)
                edit.insert(byte_to_char(static_cast<unsigned char>(bytes[i])));
        }
        w = {begin, static_cast<std::uint32_t>(edit.written())};
    }
}

}  // namespace

PreTokenizerChain::PreTokenizerChain(const std::vector<PreTokenizerStep>& steps) {
    int byte_levels = 0;
    for (const PreTokenizerStep& spec : steps) {
        Step step{spec, nullptr};
        if (const auto* s = std::get_if<pretokenizer::Split>(&spec))
            step.matcher = std::make_shared<const Matcher>(s->pattern, "pre_tokenizer Split");
        if (const auto* d = std::get_if<pretokenizer::CharDelimiterSplit>(&spec))
            step.matcher = std::make_shared<const Matcher>(Pattern{d->delimiter, false},
                                                           "pre_tokenizer CharDelimiterSplit");
        if (std::holds_alternative<pretokenizer::ByteLevel>(spec)) ++byte_levels;
        if (const auto* m = std::get_if<pretokenizer::Metaspace>(&spec))
            needs_origins_ |= m->prepend_scheme == PrependScheme::first && !steps_.empty();
        steps_.push_back(std::move(step));
    }
    ends_in_bytes_ =
        byte_levels == 1 && std::holds_alternative<pretokenizer::ByteLevel>(steps.back());
}

void PreTokenizerChain::apply(NormalizedText& text, std::vector<ByteRange>& words,
                              PreTokenizerScratch& scratch, bool raw_bytes) const {
    words.clear();
    if (text.text().empty()) return;
    words.push_back({0, static_cast<std::uint32_t>(text.text().size())});
    const auto each = [&](auto cut) {
        scratch.pieces.clear();
        const std::string_view s = text.text();
        for (const ByteRange& w : words) cut(s, w, scratch.pieces);
        words.swap(scratch.pieces);
    };
    for (const Step& step : steps_) {
        std::visit(
            [&](const auto& p) {
                using T = std::decay_t<decltype(p)>;
                if constexpr (std::is_same_v<T, pretokenizer::Bert>) {
                    each(split_bert);
                } else if constexpr (std::is_same_v<T, pretokenizer::ByteLevel>) {
                    byte_level_words(p, text, words, scratch);
                    if (!raw_bytes) spell_words(text, words, scratch);
                } else if constexpr (std::is_same_v<T, pretokenizer::Whitespace>) {
                    each(split_whitespace);
                } else if constexpr (std::is_same_v<T, pretokenizer::WhitespaceSplit>) {
                    each(split_spaces);
                } else if constexpr (std::is_same_v<T, pretokenizer::Metaspace>) {
                    metaspace(p, text, words, scratch);
                } else if constexpr (std::is_same_v<T, pretokenizer::Punctuation>) {
                    each([&](std::string_view s, ByteRange w, std::vector<ByteRange>& out) {
                        match_chars(s, w, is_punctuation, scratch.matches);
                        split_at(scratch.matches, w, p.behavior, false, out);
                    });
                } else if constexpr (std::is_same_v<T, pretokenizer::Digits>) {
                    each([&](std::string_view s, ByteRange w, std::vector<ByteRange>& out) {
                        split_digits(s, w, p.individual_digits, out);
                    });
                } else if constexpr (std::is_same_v<T, pretokenizer::UnicodeScripts>) {
                    each(split_scripts);
                } else if constexpr (std::is_same_v<T, pretokenizer::FixedLength>) {
                    each([&](std::string_view s, ByteRange w, std::vector<ByteRange>& out) {
                        split_fixed(s, w, p.length, out);
                    });
                } else {
                    static_assert(std::is_same_v<T, pretokenizer::Split> ||
                                  std::is_same_v<T, pretokenizer::CharDelimiterSplit>);
                    each([&](std::string_view s, ByteRange w, std::vector<ByteRange>& out) {
                        step.matcher->find(s.substr(w.begin, w.end - w.begin), scratch.matches);
                        for (ByteRange& m : scratch.matches)
                            m = {m.begin + w.begin, m.end + w.begin};
                        if constexpr (std::is_same_v<T, pretokenizer::Split>)
                            split_at(scratch.matches, w, p.behavior, p.invert, out);
                        else
                            split_at(scratch.matches, w, SplitBehavior::removed, false, out);
                    });
                }
            },
            step.spec);
    }
}

}  // namespace fovea::text
