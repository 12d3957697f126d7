#pragma once
// Thread-safety: pure functions, safe from any thread.
#include "fovea/base/grid.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Where a position stands in its picture, as sines (Carion et al. 2020, §A.4): half of the columns
// tell its line, half its column of the picture, [grid.rows(), width], rows named. With n =
// width/2,
//   y = 2π (line + 1) / height:   sin(y / 10000^(2i/n)) in column 2i, cos of it in column 2i + 1
// A position's numbers depend on its share of the height alone, not on the pictures' size.
// width must be a multiple of 4.
Tensor grid_sinusoid(const Grid& grid, int width);

}  // namespace fovea
