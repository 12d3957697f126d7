#pragma once
#include "fovea/base/view.h"

namespace fovea::kernels {

// out[j] = Σᵢ x[i, j] (or out[j] += …): the bias gradient. `out` has x.cols values, a dense row or
// column. Sums of 256 rows each, added pairwise as a tree over the chunks: the same bits whatever
// the threads.
void sum_rows(ConstView x, View out, bool accumulate = false);

}  // namespace fovea::kernels
