#pragma once
// What a corpus score is added up from: one row of numbers per segment, and the score of a sum of
// rows. Everything that looks at parts of a corpus (bootstrap, paired tests) works on these rows,
// so that texts are tokenised and counted once.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace fovea {

struct SegmentSums {
    std::int64_t segments = 0, width = 0;
    std::vector<double> rows;  // [segments, width]; counts stay exact below 2^53
    // The score of the sum [width] of `segments` rows, of which some may be there several times.
    std::function<double(std::span<const double> sum)> score;

    std::span<const double> row(std::int64_t i) const {
        return {rows.data() + i * width, static_cast<std::size_t>(width)};
    }
    std::vector<double> total() const {
        std::vector<double> sum(static_cast<std::size_t>(width));
        for (std::int64_t i = 0; i < segments; ++i)
            for (std::int64_t k = 0; k < width; ++k)
                sum[static_cast<std::size_t>(k)] += rows[static_cast<std::size_t>(i * width + k)];
        return sum;
    }
};

}  // namespace fovea
