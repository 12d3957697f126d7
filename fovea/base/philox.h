#pragma once
// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): a block of
// 128 random bits is a pure function of a 64-bit key and a 128-bit counter. So a dropout mask can
// be a function of (seed, step, op site, sample, row, column), whatever the batch or the thread.
#include <array>
#include <cstdint>

namespace fovea {

using PhiloxBlock = std::array<std::uint32_t, 4>;

inline constexpr PhiloxBlock philox(PhiloxBlock counter, std::uint64_t key) {
    auto k0 = static_cast<std::uint32_t>(key);
    auto k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * counter[0];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * counter[2];
        counter = {
            static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ k0, static_cast<std::uint32_t>(p1),
            static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ k1, static_cast<std::uint32_t>(p0)};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return counter;
}

}  // namespace fovea
