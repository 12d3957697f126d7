#include "fovea/text/steps/scanners.h"

#include "fovea/base/utf8.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea::text {

namespace {

constexpr std::string_view gpt2_regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view gpt2_regex_grouped =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view llama3_regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2_regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr unsigned kinds = is_letter | is_number | is_space;

// Kind of the character at i: letter, number, space or 0, and its size.
struct CharKind {
    unsigned flags;
    std::size_t size;
};
inline CharKind kind_at(std::string_view s, std::size_t i) {
    const Utf8Char c = read_char(s.data() + i);
    return {char_flags(c.code) & kinds, static_cast<std::size_t>(c.size)};
}

// End of the run of characters of one kind.
inline std::size_t run(std::string_view s, std::size_t i, unsigned kind) {
    while (i < s.size()) {
        const CharKind k = kind_at(s, i);
        if (k.flags != kind) break;
        i += k.size;
    }
    return i;
}

// A run of white space that starts at i: all of it at the end of the text, else all but its last
// character, which is left to the word that follows; a single one stands alone.
inline std::size_t spaces(std::string_view s, std::size_t i) {
    std::size_t last = i, end = i;
    while (end < s.size()) {
        const CharKind k = kind_at(s, end);
        if (k.flags != is_space) break;
        last = end;
        end += k.size;
    }
    return end == s.size() || last == i ? end : last;
}

// Length of the contraction after an apostrophe at i, 0 where there is none.
inline std::size_t contraction(std::string_view s, std::size_t i, bool any_case) {
    if (i + 1 >= s.size()) return 0;
    const auto at = [&](std::size_t k) {
        const char c = k < s.size() ? s[k] : '\0';
        return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    };
    const char a = at(i + 1), b = at(i + 2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return 3;
    // Case folding also takes the long s (U+017F) for an s.
    if (any_case && s.substr(i + 1, 2) == "\xC5\xBF") return 3;
    return 0;
}

}  // namespace

SplitScanner scanner_for(std::string_view regex) {
    if (regex == gpt2_regex || regex == gpt2_regex_grouped) return SplitScanner::gpt2;
    if (regex == llama3_regex) return SplitScanner::llama3;
    if (regex == qwen2_regex) return SplitScanner::qwen2;
    return SplitScanner::none;
}

std::size_t scan_gpt2(std::string_view s, std::size_t i) {
    if (s[i] == '\'')
        if (const std::size_t n = contraction(s, i, false)) return i + n;
    if (s[i] == ' ' && i + 1 < s.size()) {
        const CharKind k = kind_at(s, i + 1);
        if (k.flags != is_space) return run(s, i + 1 + k.size, k.flags);
    }
    const CharKind k = kind_at(s, i);
    return k.flags == is_space ? spaces(s, i) : run(s, i + k.size, k.flags);
}

std::size_t scan_llama3(std::string_view s, std::size_t i, int max_digits) {
    if (s[i] == '\'')
        if (const std::size_t n = contraction(s, i, true)) return i + n;
    const CharKind first = kind_at(s, i);
    const std::size_t next = i + first.size;
    const bool line_end = s[i] == '\r' || s[i] == '\n';
    if (first.flags == is_letter) return run(s, next, is_letter);
    if (!line_end && first.flags != is_number && next < s.size() &&
        kind_at(s, next).flags == is_letter)
        return run(s, next, is_letter);
    if (first.flags == is_number) {
        std::size_t end = next;
        for (int n = 1; n < max_digits && end < s.size(); ++n) {
            const CharKind k = kind_at(s, end);
            if (k.flags != is_number) break;
            end += k.size;
        }
        return end;
    }
    std::size_t others = 0;  // " ?[^\s\p{L}\p{N}]+[\r\n]*"
    if (first.flags == 0) {
        others = run(s, next, 0);
    } else if (s[i] == ' ' && next < s.size() && kind_at(s, next).flags == 0) {
        others = run(s, next, 0);
    }
    if (others != 0) {
        while (others < s.size() && (s[others] == '\r' || s[others] == '\n')) ++others;
        return others;
    }
    // White space: up to the last line end of the run, where it has one ("\s*[\r\n]+").
    std::size_t end = i, after_line = 0;
    while (end < s.size()) {
        const CharKind k = kind_at(s, end);
        if (k.flags != is_space) break;
        if (s[end] == '\r' || s[end] == '\n') after_line = end + 1;
        end += k.size;
    }
    return after_line != 0 ? after_line : spaces(s, i);
}

}  // namespace fovea::text
