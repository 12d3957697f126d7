#pragma once
// Convolution of each column with its own few weights ("depthwise"), along packed sequences. Zeros
// stand beyond both ends of a sequence, so that it keeps its length.
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

enum class TapOrder { forward, backward };  // backward: the transpose, for gradients of x

struct DepthwiseTaps {
    ConstView w;                  // [columns, k], k odd
    const float* bias = nullptr;  // [columns], or none
    TapOrder order = TapOrder::forward;
};

// y[i, c] = bias[c] + Σ_t w[c, t] x[i + t − (k−1)/2, c] within each sequence; offsets are those of
// the sequences. add: y += instead.
void depthwise(ConstView x, std::span<const std::int64_t> offsets, const DepthwiseTaps& taps,
               View y, bool add);

// dw[c, t] = Σ_i dy[i, c] x[i + t − (k−1)/2, c]
void depthwise_weights(ConstView x, ConstView dy, std::span<const std::int64_t> offsets, View dw,
                       bool add);

}  // namespace fovea::kernels
