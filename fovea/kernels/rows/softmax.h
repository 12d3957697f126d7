#pragma once
// Softmax of each row, and its relatives. Rows have at least one value.
#include <cstdint>

#include "fovea/base/view.h"

namespace fovea::kernels {

void softmax(ConstView x, View y);
// dx = y ∘ (dy − Σ dy ∘ y), or += …
void softmax_backward(ConstView dy, ConstView y, View dx, bool accumulate = false);

void log_softmax(ConstView x, View y);
// dx = dy − softmax · Σ dy, softmax = eʸ
void log_softmax_backward(ConstView dy, ConstView y, View dx, bool accumulate = false);

// y[i] = log Σ exp(x[i, :])
void log_sum_exp(ConstView x, float* y);
// dx = dy[i] · exp(x − y[i])
void log_sum_exp_backward(const float* dy, ConstView x, const float* y, View dx,
                          bool accumulate = false);

}  // namespace fovea::kernels
