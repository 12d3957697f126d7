#include "fovea/text/steps/normalizers.h"

#include <type_traits>

#include "fovea/text/steps/byte_level.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea::text {

namespace {

template <class Keep>
void filter(NormalizedText& text, NormalizerScratch& scratch, Keep keep) {
    TextEdit edit(text, scratch.spare);
    while (!edit.done()) {
        if (keep(edit.peek().code))
            edit.keep();
        else
            edit.skip();
    }
}

template <class Map>
void map(NormalizedText& text, NormalizerScratch& scratch, Map to) {
    TextEdit edit(text, scratch.spare);
    while (!edit.done()) edit.replace(to(edit.peek().code));
}

// Maps characters in place while they keep their size. False where one does not: the part before
// it has been mapped, the rest has not.
template <class Map>
bool map_in_place(std::string& s, Map to) {
    for (std::size_t i = 0; i < s.size();) {
        const Utf8Char c = read_char(s.data() + i);
        const char32_t d = to(c.code);
        if (d != c.code) {
            char bytes[4];
            if (write_char(d, bytes) != c.size) return false;
            for (int k = 0; k < c.size; ++k) s[i + static_cast<std::size_t>(k)] = bytes[k];
        }
        i += static_cast<std::size_t>(c.size);
    }
    return true;
}

// The flags of all characters together: which steps can have an effect at all.
unsigned union_of_flags(std::string_view s) {
    unsigned all = 0;
    for (std::size_t i = 0; i < s.size();) {
        const Utf8Char c = read_char(s.data() + i);
        all |= char_flags(c.code);
        i += static_cast<std::size_t>(c.size);
    }
    return all;
}

void strip(const normalizer::Strip& how, NormalizedText& text, NormalizerScratch& scratch) {
    const std::string& s = text.text();
    std::size_t begin = 0, end = s.size();
    if (how.strip_left)
        while (begin < end && has(read_char(s.data() + begin).code, is_space))
            begin += static_cast<std::size_t>(utf8_size(s[begin]));
    if (how.strip_right) {
        while (end > begin) {
            std::size_t last = end - 1;
            while (last > begin && is_continuation(s[last])) --last;
            if (!has(read_char(s.data() + last).code, is_space)) break;
            end = last;
        }
    }
    if (begin == 0 && end == s.size()) return;
    TextEdit edit(text, scratch.spare);
    while (edit.position() < begin) edit.skip();
    edit.keep_until(end);
}

void replace(const Matcher& matcher, std::string_view content, NormalizedText& text,
             NormalizerScratch& scratch) {
    matcher.find(text.text(), scratch.matches);
    if (scratch.matches.empty()) return;
    const std::size_t text_size = text.text().size();
    TextEdit edit(text, scratch.spare);
    for (const ByteRange& m : scratch.matches) {
        edit.keep_until(m.begin);
        while (edit.position() < m.end) edit.skip();
        edit.insert(content);
    }
    edit.keep_until(text_size);
}

// Taku Kudo's NMT cleaning (SentencePiece, normalization_rule_name "nmt_*").
void nmt(NormalizedText& text, NormalizerScratch& scratch) {
    filter(text, scratch, [](char32_t c) {
        return !((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F ||
                 c == 0x8F || c == 0x9F);
    });
    map(text, scratch, [](char32_t c) -> char32_t {
        const bool space = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                           (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 ||
                           c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
        return space ? ' ' : c;
    });
}

}  // namespace

void normalize_form(NormalForm form, NormalizedText& text, NormalizerScratch& scratch) {
    if (is_normal(text.text(), form)) return;
    normalize(text.text(), form, scratch.changes);
    TextEdit edit(text, scratch.spare);
    for (const Change& c : scratch.changes) edit.apply(c.code, c.change);
}

void normalize_lowercase(NormalizedText& text, NormalizerScratch& scratch) {
    if (is_ascii(text.text())) {
        for (char& c : text.text())
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
        return;
    }
    char32_t low[2];
    const bool same_sizes = map_in_place(text.text(), [&](char32_t c) {
        return to_lower(c, low) == 1 ? low[0] : U'\0';  // NUL is shorter: gives up
    });
    if (same_sizes) return;
    TextEdit edit(text, scratch.spare);  // lower-casing the first part again changes nothing
    while (!edit.done()) {
        const int n = to_lower(edit.peek().code, low);
        edit.replace(low[0]);
        if (n == 2) edit.insert(low[1]);
    }
}

// Devlin et al. 2018, tokenization.py, in the order: clean, space out ideographs, decompose and
// drop marks, lower-case.
void normalize_bert(const normalizer::Bert& bert, NormalizedText& text,
                    NormalizerScratch& scratch) {
    const bool strip_accents = bert.strip_accents.value_or(bert.lowercase);
    const unsigned flags = union_of_flags(text.text());
    if (bert.clean_text && (flags & (is_control | is_space)) != 0) {
        if (flags & is_control)
            filter(text, scratch, [](char32_t c) { return !has(c, is_control); });
        const auto space = [](char32_t c) { return has(c, is_space) ? U' ' : c; };
        if (!map_in_place(text.text(), space)) map(text, scratch, space);
    }
    if (bert.handle_chinese_chars && (flags & is_chinese)) {
        TextEdit edit(text, scratch.spare);
        while (!edit.done()) {
            const char32_t c = edit.peek().code;
            if (has(c, is_chinese)) {
                edit.replace(' ');
                edit.insert(c);
                edit.insert(' ');
            } else {
                edit.keep();
            }
        }
    }
    if (strip_accents && (flags & (nfd_may_change | is_nonspacing))) {
        normalize_form(NormalForm::nfd, text, scratch);
        filter(text, scratch, [](char32_t c) { return !has(c, is_nonspacing); });
    }
    if (bert.lowercase && (flags & (is_upper | nfd_may_change))) normalize_lowercase(text, scratch);
}

// As tokenizers does it: a grapheme cluster of less than six bytes is replaced as a whole by what
// its shortest matching prefix maps to; other characters one by one.
void normalize_charsmap(const SentencePieceCharsmap& map, NormalizedText& text,
                        NormalizerScratch& scratch) {
    const std::string& s = text.text();
    std::vector<Change>& out = scratch.changes;
    out.clear();
    out.reserve(s.size());
    bool modified = false;
    const auto put = [&](std::string_view old_part, std::string_view new_part) {
        modified = true;
        const auto old_count = static_cast<std::int64_t>(count_chars(old_part));
        std::int64_t count = 0;
        for (std::size_t i = 0; i < new_part.size();) {
            const Utf8Char c = read_char(new_part.data() + i);
            out.push_back({c.code, count++ < old_count ? 0 : 1});
            i += static_cast<std::size_t>(c.size);
        }
        if (count < old_count && !out.empty()) out.back().change += count - old_count;
    };
    for (std::size_t i = 0; i < s.size();) {
        // one grapheme cluster: [i, end)
        std::size_t end = i + static_cast<std::size_t>(utf8_size(s[i]));
        const auto plain = [&](std::size_t k) { return static_cast<unsigned char>(s[k]) < 0x80; };
        if (end < s.size() && !(plain(i) && plain(end) && s[i] != '\r')) {
            std::int32_t state = 0;
            char32_t before = read_char(s.data() + i).code;
            while (end < s.size()) {
                const Utf8Char after = read_char(s.data() + end);
                if (grapheme_break(before, after.code, state)) break;
                before = after.code;
                end += static_cast<std::size_t>(after.size);
            }
        }
        const std::string_view cluster = std::string_view(s).substr(i, end - i);
        i = end;
        if (cluster.size() < 6) {
            if (const SentencePieceCharsmap::Match m = map.shortest(cluster); m.length > 0) {
                put(cluster, m.replacement);
                continue;
            }
        }
        for (std::size_t k = 0; k < cluster.size();) {
            const Utf8Char c = read_char(cluster.data() + k);
            const std::string_view one = cluster.substr(k, static_cast<std::size_t>(c.size));
            const SentencePieceCharsmap::Match m = map.shortest(one);
            if (m.length > 0)
                put(one, m.replacement);
            else
                out.push_back({c.code, 0});
            k += one.size();
        }
    }
    if (!modified) return;
    TextEdit edit(text, scratch.spare);
    for (const Change& c : out) edit.apply(c.code, c.change);
}

void normalize_byte_level(NormalizedText& text, NormalizerScratch& scratch) {
    TextEdit edit(text, scratch.spare);
    while (!edit.done()) {
        const Utf8Char c = edit.peek();
        char bytes[4];
        write_char(c.code, bytes);
        edit.replace(byte_to_char(static_cast<unsigned char>(bytes[0])));
        for (int i = 1; i < c.size; ++i)
            edit.insert(byte_to_char(static_cast<unsigned char>(bytes[i])));
    }
}

NormalizerChain::NormalizerChain(const std::vector<NormalizerStep>& steps) {
    for (const NormalizerStep& spec : steps) {
        Step step{spec, nullptr, nullptr};
        if (const auto* r = std::get_if<normalizer::Replace>(&spec))
            step.matcher = std::make_shared<const Matcher>(r->pattern, "normalizer Replace");
        if (const auto* p = std::get_if<normalizer::Precompiled>(&spec))
            step.charsmap = std::make_shared<const SentencePieceCharsmap>(p->charsmap,
                                                                          "normalizer Precompiled");
        steps_.push_back(std::move(step));
    }
}

void NormalizerChain::apply(NormalizedText& text, NormalizerScratch& scratch) const {
    for (const Step& step : steps_) {
        std::visit(
            [&](const auto& n) {
                using T = std::decay_t<decltype(n)>;
                if constexpr (std::is_same_v<T, normalizer::Bert>) {
                    normalize_bert(n, text, scratch);
                } else if constexpr (std::is_same_v<T, normalizer::Nfc>) {
                    normalize_form(NormalForm::nfc, text, scratch);
                } else if constexpr (std::is_same_v<T, normalizer::Nfd>) {
                    normalize_form(NormalForm::nfd, text, scratch);
                } else if constexpr (std::is_same_v<T, normalizer::Nfkc>) {
                    normalize_form(NormalForm::nfkc, text, scratch);
                } else if constexpr (std::is_same_v<T, normalizer::Nfkd>) {
                    normalize_form(NormalForm::nfkd, text, scratch);
                } else if constexpr (std::is_same_v<T, normalizer::Lowercase>) {
                    normalize_lowercase(text, scratch);
                } else if constexpr (std::is_same_v<T, normalizer::Strip>) {
                    strip(n, text, scratch);
                } else if constexpr (std::is_same_v<T, normalizer::StripAccents>) {
                    if (!is_ascii(text.text()))
                        filter(text, scratch, [](char32_t c) { return !has(c, is_mark); });
                } else if constexpr (std::is_same_v<T, normalizer::Prepend>) {
                    text.prepend(n.prepend);
                } else if constexpr (std::is_same_v<T, normalizer::Replace>) {
                    replace(*step.matcher, n.content, text, scratch);
                } else if constexpr (std::is_same_v<T, normalizer::Precompiled>) {
                    normalize_charsmap(*step.charsmap, text, scratch);
                } else if constexpr (std::is_same_v<T, normalizer::Nmt>) {
                    nmt(text, scratch);
                } else {
                    static_assert(std::is_same_v<T, normalizer::ByteLevel>);
                    normalize_byte_level(text, scratch);
                }
            },
            step.spec);
    }
}

}  // namespace fovea::text
