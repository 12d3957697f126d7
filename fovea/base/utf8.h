#pragma once
// The one UTF-8 codec of the house. Text from outside is any bytes: is_utf8() judges it,
// repair_utf8() mends it, guess_encoding() says what it may be instead. The small inline functions
// below rely on valid text where they say so: the tokenizers repair a text once at the door and
// then run on. Thread-safety: pure functions, safe from any thread.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

constexpr char32_t replacement_char = 0xFFFD;
constexpr std::string_view replacement_utf8 = "\xEF\xBF\xBD";

// ---- any bytes ----

bool is_ascii(std::string_view s);
bool is_utf8(std::string_view s);
// Length of the longest prefix that is UTF-8: where the first broken character begins.
std::size_t utf8_prefix(std::string_view s);
// Length of the longest prefix that does not end inside a character: what a stream may hand out.
std::size_t whole_chars(std::string_view s);

// The code point at text[at], and `at` moved behind it. A byte that is not part of valid UTF-8
// gives U+FFFD, each byte one.
char32_t next_beyond_ascii(std::string_view text, std::size_t& at);
inline char32_t next_code_point(std::string_view text, std::size_t& at) {
    const auto b = static_cast<unsigned char>(text[at]);
    return b < 0x80 ? text[at++] : next_beyond_ascii(text, at);
}
std::u32string decode_utf8(std::string_view text);  // by next_code_point

// Each maximal part of a broken sequence becomes one U+FFFD (Unicode 15, section 3.9 and table 3-8;
// what Rust's from_utf8_lossy and every browser do).
std::string repair_utf8(std::string_view s);

// ---- valid UTF-8 ----

inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t count_chars(std::string_view s);

// Bytes of the character that starts with this byte.
inline int utf8_size(char lead) {
    const auto b = static_cast<unsigned char>(lead);
    return b < 0x80 ? 1 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
}

struct Utf8Char {
    char32_t code;
    int size;  // in bytes
};

inline Utf8Char read_char(const char* p) {
    const auto b0 = static_cast<unsigned char>(p[0]);
    if (b0 < 0x80) return {b0, 1};
    const auto tail = [&](int i) { return static_cast<char32_t>(p[i]) & 0x3F; };
    if (b0 < 0xE0) return {(b0 & 0x1Fu) << 6 | tail(1), 2};
    if (b0 < 0xF0) return {(b0 & 0x0Fu) << 12 | tail(1) << 6 | tail(2), 3};
    return {(b0 & 0x07u) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4};
}

// ---- writing ----

inline int write_char(char32_t c, char out[4]) {
    if (c < 0x80) {
        out[0] = static_cast<char>(c);
        return 1;
    }
    if (c < 0x800) {
        out[0] = static_cast<char>(0xC0 | c >> 6);
        out[1] = static_cast<char>(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = static_cast<char>(0xE0 | c >> 12);
        out[1] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
        out[2] = static_cast<char>(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = static_cast<char>(0xF0 | c >> 18);
    out[1] = static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out[2] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out[3] = static_cast<char>(0x80 | (c & 0x3F));
    return 4;
}

inline void append_utf8(std::string& s, char32_t c) {
    char bytes[4];
    s.append(bytes, static_cast<std::size_t>(write_char(c, bytes)));
}
std::string encode_utf8(char32_t c);
std::string encode_utf8(std::u32string_view text);

// ---- columns of a terminal ----

// Columns that a text takes, one per code point: right for the texts of this program.
int display_width(std::string_view text);

// The beginning of a text that fits so many columns, cut between code points.
std::string_view first_columns(std::string_view text, int columns);

// ---- text that is not UTF-8 ----

// What bytes that are not UTF-8 may be, from a look at them: the name that `iconv -f` takes
// ("UTF-16LE", "ISO-8859-1", "WINDOWS-1252"; "UTF-8" where only a few characters are damaged),
// "binary" where they are no text, "" where the encoding cannot be told. The more bytes the better.
std::string_view guess_encoding(std::string_view bytes);

// The same as the hint of an error: what it looks like, and the command that converts `path`.
std::string encoding_hint(std::string_view bytes, const std::string& path);

// Whether bytes are no text at all: more than one in 32 (and more than two) are control characters.
bool looks_binary(std::string_view bytes);

}  // namespace fovea
