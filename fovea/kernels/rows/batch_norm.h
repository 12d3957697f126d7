#pragma once
// Statistics and normalisation of columns over all rows (Ioffe & Szegedy 2015). Sums over rows are
// taken over chunks of a fixed size and the chunks as a tree.
#include <cstdint>

#include "fovea/base/view.h"

namespace fovea::kernels {

// Floats of scratch the sums over x's rows need.
std::int64_t column_partial_size(std::int64_t rows, std::int64_t cols);

// mean[j], and variance[j] = mean of (x − mean)²: two passes. rows >= 1.
void column_statistics(ConstView x, float* mean, float* variance, float* partial);

// y = (x − mean) ∘ factor + beta, by columns; factor = gamma / √(variance + eps).
void scale_columns(ConstView x, const float* mean, const float* factor, const float* beta, View y);

// dbeta = Σ dy, dot = Σ dy ∘ (x − mean), by columns.
void column_gradients(ConstView dy, ConstView x, const float* mean, float* dbeta, float* dot,
                      float* partial);

// dx = factor ∘ (dy − a − (x − mean) ∘ b), by columns, or += ….
void centred_gradient(ConstView dy, ConstView x, const float* mean, const float* factor,
                      const float* a, const float* b, View dx, bool accumulate);

}  // namespace fovea::kernels
