#include "fovea/nn/by_step.h"

#include <algorithm>
#include <numeric>

#include "fovea/ops/rows/concat.h"

namespace fovea {

ByStep::ByStep(const Segments& packed, bool backwards)
    : sequences(static_cast<std::size_t>(packed.count())) {
    std::iota(sequences.begin(), sequences.end(), 0);
    std::stable_sort(sequences.begin(), sequences.end(), [&](std::int64_t a, std::int64_t b) {
        return packed.length(a) > packed.length(b);
    });
    back.resize(static_cast<std::size_t>(packed.total()));
    for (std::int64_t t = 0;; ++t) {
        std::int64_t n = 0;
        for (const std::int64_t s : sequences) {
            if (packed.length(s) <= t) break;
            const std::int64_t row = backwards ? packed.end(s) - 1 - t : packed.begin(s) + t;
            back[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(rows.size());
            rows.push_back(static_cast<std::int32_t>(row));
            ++n;
        }
        if (n == 0) break;
        alive.push_back(n);
    }
}

Tensor first_rows(const Tensor& x, std::int64_t n) {
    return x.rows() == n ? x : slice_rows(x, 0, n);
}

}  // namespace fovea
