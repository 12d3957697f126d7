#include "fovea/text/steps/decoders.h"

#include <algorithm>
#include <type_traits>

#include "fovea/base/utf8.h"
#include "fovea/text/steps/byte_level.h"

namespace fovea::text {

namespace {

using Tokens = std::vector<std::string>;

std::string replace_all(const std::string& s, std::string_view what, std::string_view by) {
    if (what.empty()) return s;
    std::string out;
    std::size_t from = 0;
    for (std::size_t at = s.find(what); at != std::string::npos; at = s.find(what, from)) {
        out.append(s, from, at - from);
        out += by;
        from = at + what.size();
    }
    return out.append(s, from, std::string::npos);
}

// English spaces before punctuation and contractions, taken out again.
std::string clean_up(std::string s) {
    static constexpr std::pair<const char*, const char*> rules[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    if (s.find(' ') == std::string::npos) return s;
    for (const auto& [what, by] : rules) s = replace_all(s, what, by);
    return s;
}

void decode(const decoder::WordPiece& d, Tokens& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        std::string& t = tokens[i];
        if (i > 0) {
            if (t.starts_with(d.prefix))
                t.erase(0, d.prefix.size());
            else
                t.insert(0, 1, ' ');
        }
        if (d.cleanup) t = clean_up(std::move(t));
    }
}

void decode(const decoder::ByteLevel&, Tokens& tokens) {
    std::string bytes;
    for (const std::string& t : tokens)
        if (!unspell_bytes(t, bytes)) bytes += t;  // an added token, not spelled
    tokens.assign(1, repair_utf8(bytes));
}

void decode(const decoder::Metaspace& d, Tokens& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const bool drop = i == 0 && d.prepend_scheme != PrependScheme::never;
        tokens[i] = replace_all(tokens[i], d.replacement, drop ? "" : " ");
    }
}

void decode(const decoder::Bpe& d, Tokens& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = replace_all(tokens[i], d.suffix, i + 1 == tokens.size() ? "" : " ");
}

int byte_of(const std::string& t) {  // "<0x4F>" -> 0x4F, else -1
    if (t.size() != 6 || !t.starts_with("<0x") || t[5] != '>') return -1;
    int value = 0;
    // Rust's from_str_radix also takes a sign: "+F" is 15.
    const bool sign = t[3] == '+';
    for (std::size_t i = sign ? 4 : 3; i < 5; ++i) {
        const char c = t[i];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

// Runs of byte tokens become their text, or one U+FFFD a byte where they are not UTF-8.
void decode(const decoder::ByteFallback&, Tokens& tokens) {
    Tokens out;
    std::string bytes;
    const auto flush = [&] {
        if (bytes.empty()) return;
        if (is_utf8(bytes))
            out.push_back(bytes);
        else
            out.insert(out.end(), bytes.size(), "\xEF\xBF\xBD");
        bytes.clear();
    };
    for (std::string& t : tokens) {
        if (const int b = byte_of(t); b >= 0) {
            bytes.push_back(static_cast<char>(b));
        } else {
            flush();
            out.push_back(std::move(t));
        }
    }
    flush();
    tokens = std::move(out);
}

void decode(const decoder::Fuse&, Tokens& tokens) {
    std::string all;
    for (const std::string& t : tokens) all += t;
    tokens.assign(1, all);
}

void decode(const decoder::Strip& d, Tokens& tokens) {
    const std::size_t n = d.content.size();
    for (std::string& t : tokens) {
        std::size_t begin = 0, end = t.size();
        for (std::int64_t i = 0; i < d.start && t.compare(begin, n, d.content) == 0; ++i)
            begin += n;
        for (std::int64_t i = 0;
             i < d.stop && end >= begin + n && t.compare(end - n, n, d.content) == 0; ++i)
            end -= n;
        t = t.substr(begin, end - begin);
    }
}

// Graves et al. 2006: repetitions collapse, then the blank goes.
void decode(const decoder::Ctc& d, Tokens& tokens) {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    Tokens out;
    for (const std::string& t : tokens) {
        std::string s = replace_all(t, d.pad_token, "");
        if (d.cleanup) s = replace_all(clean_up(std::move(s)), d.word_delimiter_token, " ");
        if (!s.empty()) out.push_back(std::move(s));
    }
    tokens = std::move(out);
}

void replace(const Matcher& matcher, const std::string& content, Tokens& tokens) {
    std::vector<ByteRange> matches;
    for (std::string& t : tokens) {
        matcher.find(t, matches);
        if (matches.empty()) continue;
        std::string out;
        std::size_t from = 0;
        for (const ByteRange& m : matches) {
            out.append(t, from, m.begin - from);
            out += content;
            from = m.end;
        }
        out.append(t, from, std::string::npos);
        t = std::move(out);
    }
}

}  // namespace

DecoderChain::DecoderChain(const std::optional<std::vector<DecoderStep>>& steps) : none_(!steps) {
    if (none_) return;
    for (const DecoderStep& spec : *steps) {
        Step step{spec, nullptr};
        if (const auto* r = std::get_if<decoder::Replace>(&spec))
            step.matcher = std::make_shared<const Matcher>(r->pattern, "decoder Replace");
        steps_.push_back(std::move(step));
    }
}

std::string DecoderChain::decode(Tokens tokens) const {
    for (const Step& step : steps_) {
        std::visit(
            [&](const auto& d) {
                if constexpr (std::is_same_v<std::decay_t<decltype(d)>, decoder::Replace>)
                    replace(*step.matcher, d.content, tokens);
                else
                    text::decode(d, tokens);
            },
            step.spec);
    }
    std::string out;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (none_ && i > 0) out += ' ';
        out += tokens[i];
    }
    return out;
}

}  // namespace fovea::text
