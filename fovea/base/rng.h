#pragma once
// A stream of random numbers that is nothing but (seed, purpose, position): it can be saved as
// three integers and restored exactly, and streams of different purposes never overlap.
// Not thread-safe: one Rng belongs to one thread.
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "fovea/base/philox.h"

namespace fovea {

class Rng {
public:
    explicit Rng(std::uint64_t seed = 0, std::uint32_t purpose = 0)
        : seed_(seed), purpose_(purpose) {}

    std::uint64_t seed() const { return seed_; }
    std::uint32_t purpose() const { return purpose_; }
    std::uint64_t position() const { return position_; }
    void seek(std::uint64_t position) { position_ = position; }

    std::uint64_t bits() {
        const std::uint64_t block = position_ / 2;
        const PhiloxBlock b =
            philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                    purpose_, 0x464f5645u},
                   seed_);
        const int half = static_cast<int>(position_ % 2) * 2;
        ++position_;
        return (std::uint64_t{b[half + 1]} << 32) | b[half];
    }

    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
    double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }

    // An integer in [0, n), without bias worth mentioning (multiply-shift of 64 bits).
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(
            (static_cast<unsigned __int128>(bits()) * static_cast<unsigned __int128>(n)) >> 64);
    }

    double normal() {  // Box-Muller, one value of each pair
        const double u = 1.0 - uniform();
        return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * uniform());
    }

    template <class T>
    void shuffle(std::vector<T>& v) {  // Fisher-Yates
        for (std::size_t i = v.size(); i > 1; --i)
            std::swap(v[i - 1], v[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    }

private:
    std::uint64_t seed_;
    std::uint32_t purpose_;
    std::uint64_t position_ = 0;
};

}  // namespace fovea
