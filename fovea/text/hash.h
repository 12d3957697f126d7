#pragma once
// A fast hash of short byte strings for the tables of this room. Not for security: tables keyed by
// text from outside are bounded (caches) or sized by their file (vocabularies).
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fovea {

// 64-bit multiply-and-fold (the "mum" step of wyhash): eight bytes at a time, tails without a
// byte loop.
inline std::uint64_t hash_fold(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 p = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(p) ^ static_cast<std::uint64_t>(p >> 64);
}

// One number, spread over all bits (the golden ratio's fraction).
inline std::uint64_t hash_of_number(std::uint64_t x) { return hash_fold(x, 0x9E3779B97F4A7C15ull); }

inline std::uint64_t hash_bytes64(std::string_view s) {
    constexpr std::uint64_t k0 = 0xa0761d6478bd642full, k1 = 0xe7037ed1a0b428dbull;
    const char* p = s.data();
    std::size_t n = s.size();
    std::uint64_t h = k0 ^ n;
    std::uint64_t a = 0, b = 0;
    while (n > 16) {
        std::memcpy(&a, p, 8);
        std::memcpy(&b, p + 8, 8);
        h = hash_fold(a ^ k1, b ^ h);
        p += 16;
        n -= 16;
    }
    if (n >= 8) {
        std::memcpy(&a, p, 8);
        std::memcpy(&b, p + n - 8, 8);
    } else if (n >= 4) {
        std::uint32_t x = 0, y = 0;
        std::memcpy(&x, p, 4);
        std::memcpy(&y, p + n - 4, 4);
        a = x;
        b = y;
    } else if (n > 0) {
        const auto at = [&](std::size_t i) {
            return std::uint64_t{static_cast<unsigned char>(p[i])};
        };
        a = at(0) << 16 | at(n >> 1) << 8 | at(n - 1);
        b = 0;
    } else {
        a = b = 0;
    }
    return hash_fold(k1 ^ s.size(), hash_fold(a ^ k1, b ^ h));
}

inline std::uint32_t hash_bytes(std::string_view s) {
    return static_cast<std::uint32_t>(hash_bytes64(s));
}

}  // namespace fovea
