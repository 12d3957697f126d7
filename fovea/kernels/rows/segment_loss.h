#pragma once
// Softmax down the columns of each segment, and the loss of the rows that were wanted. In double,
// row by row: a segment's numbers do not depend on others.
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

// losses[s, j] = log Σ_i exp x[i, j] − x[first row of s + label[s, j], j]; 0 where the label is
// negative. x [rows, columns], labels and losses [segments, columns], log_sums the same.
void segment_cross_entropy(ConstView x, std::span<const std::int64_t> offsets,
                           const std::int32_t* labels, double* log_sums, double* losses);

// dx[i, j] = factor (exp(x[i, j] − log_sum[s, j]) − [i is the wanted row]); 0 for negative labels.
void segment_cross_entropy_backward(ConstView x, std::span<const std::int64_t> offsets,
                                    const std::int32_t* labels, const double* log_sums,
                                    double factor, View dx, bool add);

}  // namespace fovea::kernels
