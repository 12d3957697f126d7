#pragma once
// Softmax down the columns of each segment, and the loss of the rows that were wanted. In double,
// row by row: a segment's numbers do not depend on others.
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

struct SegmentChoice {
    ConstView x;                            // [rows, columns]
    std::span<const std::int64_t> offsets;  // of the segments
    const std::int32_t* labels;             // [segments, columns]: rows of the segment; < 0: none
};

// losses[s, j] = log Σ_i exp x[i, j] − x[first row of s + label[s, j], j]; 0 where there is no
// label. losses and log_sums [segments, columns].
void segment_cross_entropy(const SegmentChoice& choice, double* log_sums, double* losses);

// dx[i, j] = factor (exp(x[i, j] − log_sum[s, j]) − [i is the wanted row]); 0 without a label.
void segment_cross_entropy_backward(const SegmentChoice& choice, const double* log_sums,
                                    double factor, View dx, bool add);

}  // namespace fovea::kernels
