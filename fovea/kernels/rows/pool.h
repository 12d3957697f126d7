#pragma once
// Rows of each segment put together into one. Segment s is the rows [offsets[s], offsets[s+1]); an
// empty one gives zeros, and passes no gradient.
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

using Offsets = std::span<const std::int64_t>;

void segment_mean(ConstView x, Offsets offsets, View y);
void segment_mean_backward(ConstView dy, Offsets offsets, View dx, bool accumulate);

// y[s] = Σ weights[i] · x[i]
void segment_sum(ConstView x, std::span<const float> weights, Offsets offsets, View y);
void segment_sum_backward(ConstView dy, std::span<const float> weights, Offsets offsets, View dx,
                          bool accumulate);

void segment_max(ConstView x, Offsets offsets, View y);
// The gradient goes to the first row that has the largest value.
void segment_max_backward(ConstView dy, ConstView x, ConstView y, Offsets offsets, View dx,
                          bool accumulate);

enum class End { first, last };
void segment_end(ConstView x, Offsets offsets, End end, View y);
void segment_end_backward(ConstView dy, Offsets offsets, End end, View dx, bool accumulate);

}  // namespace fovea::kernels
