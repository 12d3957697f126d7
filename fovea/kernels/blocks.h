#pragma once
// Copies of rectangles between matrices of any stride: slices and concatenations.
#include "fovea/base/view.h"

namespace fovea::kernels {

void copy_block(ConstView from, View to, bool accumulate = false);  // to = from, or to += from
void zero_block(View to);

}  // namespace fovea::kernels
