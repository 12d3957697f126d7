#pragma once
#include "fovea/base/grid.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Pictures at another size by bilinear interpolation, as PyTorch's interpolate has it with
// align_corners = false: x [grid.rows(), d] -> [images · height · width, d], rows named as x's are.
// (No antialiasing: for features and logits, not for pixels; io/resize.h is for those.)
Tensor resize_bilinear(const Tensor& x, const Grid& grid, std::int64_t height, std::int64_t width);

}  // namespace fovea
