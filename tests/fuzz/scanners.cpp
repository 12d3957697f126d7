// The scanners against a small backtracking matcher that reads the regular expressions' parts as
// they are written, and UTF-8 functions against the definition.
#include "fovea/text/steps/scanners.h"

#include <vector>

#include "check_encoding.h"
#include "fovea/base/utf8.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea {

namespace {

using Text = std::vector<char32_t>;

// One part of a pattern: characters of a class, `least` to `most` of them, greedy.
struct Part {
    bool (*is)(char32_t);
    int least, most;
};
// One alternative: its parts; then, where asked, "not followed by a character that is no space".
struct Alternative {
    std::vector<Part> parts;
    bool then_space_or_end = false;
};

bool space(char32_t c) { return text::has(c, text::is_space); }
bool letter(char32_t c) { return text::has(c, text::is_letter); }
bool number(char32_t c) { return text::has(c, text::is_number); }
bool other(char32_t c) { return !space(c) && !letter(c) && !number(c); }
bool line_end(char32_t c) { return c == '\r' || c == '\n'; }
bool lead(char32_t c) { return !line_end(c) && !letter(c) && !number(c); }
bool blank(char32_t c) { return c == ' '; }

constexpr int many = 1 << 30;

// End of the longest-first match of parts[k...] from `at`, or -1.
std::ptrdiff_t match(const Text& t, std::size_t at, const Alternative& a, std::size_t k) {
    if (k == a.parts.size()) {
        if (a.then_space_or_end && at < t.size() && !space(t[at])) return -1;
        return static_cast<std::ptrdiff_t>(at);
    }
    const Part& p = a.parts[k];
    int n = 0;
    while (n < p.most && at + static_cast<std::size_t>(n) < t.size() &&
           p.is(t[at + static_cast<std::size_t>(n)]))
        ++n;
    for (; n >= p.least; --n) {
        const std::ptrdiff_t end = match(t, at + static_cast<std::size_t>(n), a, k + 1);
        if (end >= 0) return end;
    }
    return -1;
}

std::ptrdiff_t contraction(const Text& t, std::size_t at, bool any_case) {
    if (t[at] != '\'') return -1;
    for (const std::u32string_view tail : {U"s", U"t", U"re", U"ve", U"m", U"ll", U"d"}) {
        bool same = at + 1 + tail.size() <= t.size();
        for (std::size_t i = 0; same && i < tail.size(); ++i) {
            char32_t c = t[at + 1 + i];
            if (any_case && c >= 'A' && c <= 'Z') c += 32;
            if (any_case && c == 0x17F) c = 's';
            same = c == tail[i];
        }
        if (same) return static_cast<std::ptrdiff_t>(at + 1 + tail.size());
    }
    return -1;
}

std::size_t slow_end(const Text& t, std::size_t at, bool any_case,
                     const std::vector<Alternative>& alternatives) {
    const std::ptrdiff_t c = contraction(t, at, any_case);
    if (c >= 0) return static_cast<std::size_t>(c);
    for (const Alternative& a : alternatives) {
        const std::ptrdiff_t end = match(t, at, a, 0);
        if (end > static_cast<std::ptrdiff_t>(at)) return static_cast<std::size_t>(end);
    }
    throw BrokenProperty("the reference finds no piece");
}

void check_scanner(text::SplitScanner scanner, bool any_case,
                   const std::vector<Alternative>& alternatives, std::string_view s,
                   const Text& t) {
    std::size_t byte = 0, at = 0;
    while (byte < s.size()) {
        const std::size_t end = text::scan(scanner, s, byte);
        property(end > byte && end <= s.size(), "a piece is not empty and lies in the text");
        const std::size_t expected = slow_end(t, at, any_case, alternatives);
        while (byte < end) {
            byte += static_cast<std::size_t>(utf8_size(s[byte]));
            ++at;
        }
        property(byte == end && at == expected, "the scanner's piece is the reference's");
    }
}

const std::vector<Alternative> gpt2 = {{{{blank, 0, 1}, {letter, 1, many}}},
                                       {{{blank, 0, 1}, {number, 1, many}}},
                                       {{{blank, 0, 1}, {other, 1, many}}},
                                       {{{space, 1, many}}, true},
                                       {{{space, 1, many}}}};

std::vector<Alternative> llama3(int digits) {
    return {{{{lead, 0, 1}, {letter, 1, many}}},
            {{{number, 1, digits}}},
            {{{blank, 0, 1}, {other, 1, many}, {line_end, 0, many}}},
            {{{space, 0, many}, {line_end, 1, many}}},
            {{{space, 1, many}}, true},
            {{{space, 1, many}}}};
}

// Table 3-7 of the Unicode standard, byte by byte: the length of the well-formed sequence at i, 0
// where there is none; `bad` then is the length of the maximal part of one (at least 1).
int well_formed(std::string_view s, std::size_t i, int& bad) {
    const auto byte = [&](std::size_t k) {
        return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u;
    };
    const unsigned a = byte(i);
    bad = 1;
    if (a < 0x80) return 1;
    const int n = a >= 0xC2 && a <= 0xDF   ? 2
                  : a >= 0xE0 && a <= 0xEF ? 3
                  : a >= 0xF0 && a <= 0xF4 ? 4
                                           : 0;
    if (n == 0) return 0;
    const unsigned low = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80;
    const unsigned high = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF;
    for (int k = 1; k < n; ++k) {
        const unsigned b = byte(i + static_cast<std::size_t>(k));
        if (i + static_cast<std::size_t>(k) >= s.size() || b < (k == 1 ? low : 0x80u) ||
            b > (k == 1 ? high : 0xBFu)) {
            bad = k;
            return 0;
        }
    }
    return n;
}

std::string slow_repair(std::string_view s) {
    std::string out;
    for (std::size_t i = 0; i < s.size();) {
        int bad = 0;
        const int n = well_formed(s, i, bad);
        out += n > 0 ? s.substr(i, static_cast<std::size_t>(n)) : std::string_view("\xEF\xBF\xBD");
        i += static_cast<std::size_t>(n > 0 ? n : bad);
    }
    return out;
}

}  // namespace

void fuzz_scanners(FuzzBytes data) {
    const std::string_view raw =
        text_of_bytes(data).substr(0, std::min<std::size_t>(data.size(), 600));
    const std::string s = repair_utf8(raw);
    property(s == slow_repair(raw), "broken UTF-8 is repaired as the standard says");
    property(valid_by_utf8proc(s) && is_utf8(s), "repaired text is UTF-8");
    property(is_utf8(raw) == valid_by_utf8proc(raw), "both agree on what is UTF-8");
    Text t;
    for (std::size_t i = 0; i < s.size();) {
        const Utf8Char c = read_char(s.data() + i);
        t.push_back(c.code);
        std::string back;
        append_utf8(back, c.code);
        property(back == std::string_view(s).substr(i, static_cast<std::size_t>(c.size)),
                 "a character read and written is the same");
        i += static_cast<std::size_t>(c.size);
    }
    property(count_chars(s) == t.size(), "characters are counted right");
    check_scanner(text::SplitScanner::gpt2, false, gpt2, s, t);
    check_scanner(text::SplitScanner::llama3, true, llama3(3), s, t);
    check_scanner(text::SplitScanner::qwen2, true, llama3(1), s, t);
}

}  // namespace fovea
