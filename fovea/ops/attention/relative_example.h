#pragma once
// What the tests of RelativeDot and of scores made of it share.
#include "fovea/ops/attention/score_example.h"

namespace fovea {

// u, v, r.
inline std::vector<Tensor> relative_parameters(const ScoreSizes& s) {
    Rng rng(1);
    return {random_tensor({s.heads * s.dk}, rng), random_tensor({s.heads * s.dk}, rng),
            random_tensor({2 * s.longest + 1, s.heads * s.dk}, rng)};
}

// scale ((q + u)·k + (q + v)·r[distance - first])
inline auto relative_formula(const NaiveAttention& n, std::int64_t first,
                             const RowPositions& positions) {
    return [n, first, positions](const std::vector<Doubles>& x, int h, std::int64_t i,
                                 std::int64_t j, std::int64_t distance) {
        if (!positions.q.empty())
            distance =
                positions.q[static_cast<std::size_t>(i)] - positions.k[static_cast<std::size_t>(j)];
        double sum = 0;
        for (std::int64_t e = 0; e < n.dk; ++e) {
            const auto at = [&](std::int64_t row) {
                return static_cast<std::size_t>((row * n.heads + h) * n.dk + e);
            };
            const double q = x[0][at(i)];
            sum += (q + x[3][at(0)]) * x[1][at(j)] + (q + x[4][at(0)]) * x[5][at(distance - first)];
        }
        return n.scale * sum;
    };
}

}  // namespace fovea
