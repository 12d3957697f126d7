#pragma once
// Rows of pictures as weighted sums of rows, separable in height and width: resizing, and its
// transpose for gradients.
#include <cstdint>
#include <vector>

#include "fovea/base/grid.h"
#include "fovea/base/view.h"

namespace fovea::kernels {

// Output o takes inputs `input` with weights, [offsets[o], offsets[o + 1]).
struct AxisMix {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> input;
    std::vector<float> weight;

    std::int64_t outputs() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
    AxisMix transposed(std::int64_t inputs) const;
};

// y[i, j] = Σ_a Σ_b vertical.weight · horizontal.weight · x[vertical.input, horizontal.input] for
// each picture of `in`; y has vertical.outputs() x horizontal.outputs() positions. add: y +=.
void mix_grid(ConstView x, const Grid& in, const AxisMix& vertical, const AxisMix& horizontal,
              View y, bool add);

}  // namespace fovea::kernels
