#pragma once
#include "fovea/base/grid.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Rows of pictures with their size.
struct FeatureMap {
    Tensor rows;
    Grid grid;
};

}  // namespace fovea
