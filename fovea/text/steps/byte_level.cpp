#include "fovea/text/steps/byte_level.h"

#include "fovea/base/utf8.h"

namespace fovea::text {

namespace {

constexpr bool prints(int b) {
    return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || (b >= 174 && b <= 255);
}

struct Tables {
    std::array<char16_t, 256> to_char{};
    std::array<short, 0x144> to_byte{};

    constexpr Tables() {
        for (auto& b : to_byte) b = -1;
        int next = 0x100;
        for (int b = 0; b < 256; ++b) {
            const int c = prints(b) ? b : next++;
            to_char[static_cast<std::size_t>(b)] = static_cast<char16_t>(c);
            to_byte[static_cast<std::size_t>(c)] = static_cast<short>(b);
        }
    }
};
constexpr Tables tables;

}  // namespace

char32_t byte_to_char(unsigned char byte) { return tables.to_char[byte]; }

int char_to_byte(char32_t c) { return c < tables.to_byte.size() ? tables.to_byte[c] : -1; }

std::string spell_bytes(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size() + bytes.size() / 2);
    for (const char b : bytes) append_utf8(out, byte_to_char(static_cast<unsigned char>(b)));
    return out;
}

bool unspell_bytes(std::string_view token, std::string& out) {
    const std::size_t before = out.size();
    for (std::size_t i = 0; i < token.size();) {
        const Utf8Char c = read_char(token.data() + i);
        const int b = char_to_byte(c.code);
        if (b < 0) {
            out.resize(before);
            return false;
        }
        out.push_back(static_cast<char>(b));
        i += static_cast<std::size_t>(c.size);
    }
    return true;
}

std::vector<std::string> byte_alphabet() {
    std::vector<std::string> alphabet;
    for (int b = 0; b < 256; ++b)
        alphabet.push_back(encode_utf8(byte_to_char(static_cast<unsigned char>(b))));
    return alphabet;
}

}  // namespace fovea::text
