#pragma once
#include "fovea/base/grid.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct PoolOptions {
    std::int64_t size = 2, stride = 2, padding = 0;  // square windows; padding ≤ size / 2
};

// The positions pooling makes of others.
Grid max_pool2d_grid(const Grid& grid, const PoolOptions& options);

// The largest value of each window, channel by channel: x [grid.rows(), d] ->
// [max_pool2d_grid(…).rows(), d], rows named as x's are. The gradient goes to the first largest
// value of a window, line by line, as PyTorch has it.
Tensor max_pool2d(const Tensor& x, const Grid& grid, const PoolOptions& options);

}  // namespace fovea
