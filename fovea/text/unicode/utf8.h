#pragma once
// UTF-8, one character at a time. Except where said, text must be valid: encode() repairs it once
// at the door (valid_utf8) and everything inside relies on that.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace fovea::text {

inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

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

inline void append_char(std::string& s, char32_t c) {
    char bytes[4];
    s.append(bytes, static_cast<std::size_t>(write_char(c, bytes)));
}

bool is_ascii(std::string_view s);
bool is_valid_utf8(std::string_view s);
std::size_t count_chars(std::string_view s);

// Any bytes to valid UTF-8: each maximal part of a broken sequence becomes one U+FFFD (Unicode 15,
// §3.9 and table 3-8; what Rust's from_utf8_lossy and every browser do).
std::string valid_utf8(std::string_view s);

// Length of the longest prefix that does not end inside a character (or a broken one): what a
// stream may hand out. Bytes are anything.
std::size_t whole_chars(std::string_view s);

}  // namespace fovea::text
