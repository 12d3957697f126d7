#pragma once
// The largest value of each window of a picture, channel by channel, and where it stood.
#include <cstdint>

#include "fovea/base/view.h"
#include "fovea/kernels/conv2d.h"

namespace fovea::kernels {

// y [outputs, channels] of x [in.rows(), channels]; `chosen`, of y's size, is the tap (line by
// line) of the first largest value. What lies beyond the border is smaller than everything. At most
// 256 taps, one of them at least inside (padding ≤ half the window).
void max_pool2d(ConstView x, const GridWindows& shape, View y, std::uint8_t* chosen);

// dx = Σ dy of the windows that chose a value, in the order of the windows. add: dx +=.
void max_pool2d_backward(ConstView dy, const GridWindows& shape, const std::uint8_t* chosen,
                         View dx, bool add);

}  // namespace fovea::kernels
