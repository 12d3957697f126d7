#pragma once
// Convolution of each channel of pictures with its own k x k weights ("depthwise"), directly,
// without windows. Zeros stand beyond the border, so that pictures keep their size.
#include "fovea/base/grid.h"
#include "fovea/base/view.h"
#include "fovea/kernels/depthwise.h"

namespace fovea::kernels {

// y[i, j, c] = bias[c] + Σ_rs w[c, r, s] x[i + r − h, j + s − h, c], h = (k − 1) / 2, within each
// picture; taps.w is [channels, k · k]. add: y += instead.
void depthwise2d(ConstView x, const Grid& grid, const DepthwiseTaps& taps, View y, bool add);

// dw[c, r, s] = Σ_ij dy[i, j, c] x[i + r − h, j + s − h, c]
void depthwise2d_weights(ConstView x, ConstView dy, const Grid& grid, View dw, bool add);

}  // namespace fovea::kernels
