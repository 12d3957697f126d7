#include "fovea/text/base64.h"

#include <array>
#include <cstdint>

#include "fovea/base/error.h"

namespace fovea::text {

namespace {

constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> values = [] {
    std::array<std::int8_t, 256> v{};
    for (auto& x : v) x = -1;
    for (int i = 0; i < 64; ++i)
        v[static_cast<unsigned char>(digits[i])] = static_cast<std::int8_t>(i);
    return v;
}();

}  // namespace

std::string encode_base64(std::string_view bytes) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group =
                group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k)
            out += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63];
    }
    return out;
}

std::string decode_base64(std::string_view text, const std::string& where) {
    expect_input(text.size() % 4 == 0, where, ": base64 of ", text.size(),
                 " characters, not a multiple of 4");
    std::string out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::uint32_t group = 0;
        std::size_t padding = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const char c = text[i + k];
            const bool pad = c == '=' && i + 4 == text.size() && k >= 2;
            padding += pad;
            const int v = pad ? 0 : values[static_cast<unsigned char>(c)];
            expect_input(v >= 0 && (pad || padding == 0), where, ": byte ", i + k,
                         " is not base64");
            group = group << 6 | static_cast<std::uint32_t>(v);
        }
        for (std::size_t k = 0; k + padding < 3; ++k)
            out += static_cast<char>(group >> (16 - 8 * k) & 0xFF);
    }
    return out;
}

}  // namespace fovea::text
