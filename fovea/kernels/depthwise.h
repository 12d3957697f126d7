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

// What the kernel over pictures (depthwise2d.h) shares:
// w [columns, taps] as [taps, columns], so that a tap's weights lie side by side.
void lay_out_taps(ConstView w, TapOrder order, float* taps);
// sums[0 … 16) += Σ_i dy[i] x[i] over `rows` rows, for at most 16 columns; of the level in use.
using AddTap = void (*)(const float* x, const float* dy, std::int64_t stride, std::int64_t rows,
                        std::int64_t columns, float* sums);
AddTap depthwise_tap();

}  // namespace fovea::kernels
