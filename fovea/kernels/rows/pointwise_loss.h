#pragma once
// Losses that compare value with value: sums over all of them, and their gradients.
#include <cstdint>

namespace fovea::kernels {

enum class PointwiseLoss {
    squared,      // (x − t)²
    binary_cross  // max(x, 0) − x t + log(1 + e^−|x|): cross-entropy of σ(x) against t in [0, 1]
};

// loss[i], where `loss` is not null, and their sum: chunks of a fixed size in f32, then in double.
double pointwise_loss(PointwiseLoss kind, const float* x, const float* t, float* loss,
                      std::int64_t n);

// dx = factor · (2 (x − t)  or  σ(x) − t), or += …; per value with `factors`, else one for all.
void pointwise_loss_backward(PointwiseLoss kind, const float* x, const float* t, float factor,
                             const float* factors, float* dx, std::int64_t n, bool accumulate);

}  // namespace fovea::kernels
