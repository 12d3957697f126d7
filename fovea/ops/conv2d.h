#pragma once
// Convolution of pictures that are rows (base/grid.h): rows and a Grid in and out, so that
// convolutions follow each other and linear, norms and attention stand between them.
#include "fovea/base/grid.h"
#include "fovea/ops/conv.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// One segment a picture, named by its sample: what attention and pooling want. `like` may have the
// names of another size of the same pictures.
Segments grid_segments(const Grid& grid, const Tensor& like = {});

// The positions a convolution with kernel [h, w] makes of others.
Grid conv2d_grid(const Grid& grid, std::int64_t h, std::int64_t w,
                 const Conv2dOptions& options = {});

// x [grid.rows(), in], w [out, in, h, w] as PyTorch has it, b [out] or empty ->
// [conv2d_grid(...).rows(), out], rows named as x's are. Windows are gathered a few lines at a
// time, in backward again: the h · w copies of x are never stored. Pictures do not see each other.
Tensor conv2d(const Tensor& x, const Grid& grid, const Tensor& w, const Tensor& b,
              const Conv2dOptions& options = {});

// Each channel by itself: w [channels, 1, k, k], k odd, zeros beyond the border; x keeps its size.
Tensor depthwise_conv2d(const Tensor& x, const Grid& grid, const Tensor& w, const Tensor& b);

}  // namespace fovea
