#pragma once
// Convolution of each column with its own few weights ("depthwise"), along packed sequences. Zeros
// stand beyond both ends of a sequence, so that it keeps its length.
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

enum class TapOrder { forward, backward };  // backward: the transpose, for gradients of x

// y[i, c] = bias[c] + Σ_t w[c, t] x[i + t − (k−1)/2, c] within each sequence; k is odd. `bias` may
// be null. w [columns, k]; offsets are those of the sequences. add: y += instead.
void depthwise(ConstView x, std::span<const std::int64_t> offsets, ConstView w, const float* bias,
               TapOrder order, View y, bool add);

// dw[c, t] = Σ_i dy[i, c] x[i + t − (k−1)/2, c]
void depthwise_weights(ConstView x, ConstView dy, std::span<const std::int64_t> offsets, View dw,
                       bool add);

}  // namespace fovea::kernels
