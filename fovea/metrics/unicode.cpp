#include "fovea/metrics/unicode.h"

#include <utf8proc.h>

namespace fovea {
namespace {

utf8proc_category_t category(char32_t c) {
    return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool is_cased(char32_t c) {
    const auto category_of_c = category(c);
    if (category_of_c == UTF8PROC_CATEGORY_LU || category_of_c == UTF8PROC_CATEGORY_LL ||
        category_of_c == UTF8PROC_CATEGORY_LT)
        return true;
    const auto i = static_cast<utf8proc_int32_t>(c);
    return utf8proc_tolower(i) != i || utf8proc_toupper(i) != i ||
           // Other_Lowercase and Other_Uppercase without a mapping of their own
           c == 0xAA || c == 0xBA || (c >= 0x2B0 && c <= 0x2B8) || (c >= 0x2C0 && c <= 0x2C1) ||
           (c >= 0x2E0 && c <= 0x2E4) || c == 0x37A || (c >= 0x1D2C && c <= 0x1D6A);
}

// Characters that the Final_Sigma condition of the Unicode standard (section 3.13) looks through.
bool is_case_ignorable(char32_t c) {
    switch (category(c)) {
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_ME:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_LM:
        case UTF8PROC_CATEGORY_SK:
            return true;
        default:
            return c == '\'' || c == '.' || c == ':' || c == 0xB7 || c == 0x387 || c == 0x55F ||
                   c == 0x5F4 || c == 0x2018 || c == 0x2019 || c == 0x2024 || c == 0x2027 ||
                   c == 0xFE13 || c == 0xFE52 || c == 0xFE55 || c == 0xFF07 || c == 0xFF0E ||
                   c == 0xFF1A;
    }
}

bool sigma_is_final(std::u32string_view text, std::size_t at) {
    std::size_t before = at;
    while (before > 0 && is_case_ignorable(text[before - 1])) --before;
    if (before == 0 || !is_cased(text[before - 1])) return false;
    std::size_t after = at + 1;
    while (after < text.size() && is_case_ignorable(text[after])) ++after;
    return after == text.size() || !is_cased(text[after]);
}

}  // namespace

bool is_python_space(char32_t c) {
    if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
    return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
           c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_number(char32_t c) {
    if (c < 0x80) return c >= '0' && c <= '9';
    const auto k = category(c);
    return k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t c) {
    const auto k = category(c);
    return k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_PO;
}

bool is_symbol(char32_t c) {
    const auto k = category(c);
    return k >= UTF8PROC_CATEGORY_SM && k <= UTF8PROC_CATEGORY_SO;
}

bool is_word_character(char32_t c) {
    const auto k = category(c);
    return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO) || is_number(c) || c == '_';
}

std::u32string lower(std::u32string_view text) {
    std::u32string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char32_t c = text[i];
        if (c < 0x80) {
            out.push_back(c >= 'A' && c <= 'Z' ? c + 32 : c);
        } else if (c == 0x130) {  // İ: the only character whose lower case is two
            out.push_back('i');
            out.push_back(0x307);
        } else if (c == 0x3A3) {
            out.push_back(sigma_is_final(text, i) ? 0x3C2 : 0x3C3);
        } else {
            out.push_back(
                static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
        }
    }
    return out;
}

std::string lower(std::string_view utf8) {
    return encode_utf8(lower(std::u32string_view(decode_utf8(utf8))));
}

std::vector<std::string> split_words(std::string_view utf8) {
    std::vector<std::string> words;
    std::size_t begin = 0;  // of the word being read
    for (std::size_t at = 0; at < utf8.size();) {
        const std::size_t here = at;
        if (!is_python_space(next_code_point(utf8, at))) continue;
        if (here > begin) words.emplace_back(utf8.substr(begin, here - begin));
        begin = at;
    }
    if (begin < utf8.size()) words.emplace_back(utf8.substr(begin));
    return words;
}

std::string_view strip_right(std::string_view utf8) {
    std::size_t end = 0;  // behind the last character that is not white space
    for (std::size_t at = 0; at < utf8.size();)
        if (!is_python_space(next_code_point(utf8, at))) end = at;
    return utf8.substr(0, end);
}

std::string_view strip(std::string_view utf8) {
    utf8 = strip_right(utf8);
    for (std::size_t at = 0; at < utf8.size();) {
        const std::size_t here = at;
        if (!is_python_space(next_code_point(utf8, at))) return utf8.substr(here);
    }
    return {};
}

}  // namespace fovea
