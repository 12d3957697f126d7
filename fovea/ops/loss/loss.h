#pragma once
// Losses of value against value. Targets are data: they get no gradient.
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// (x − target)², same shape. Result [1], or x's shape without reduction.
Tensor mean_squared_error(const Tensor& x, const Tensor& target,
                          Reduction reduction = Reduction::mean);

// −t log σ(x) − (1 − t) log(1 − σ(x)), t in [0, 1], same shape; finite for every finite x.
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        Reduction reduction = Reduction::mean);

// The mean over all values of weight · binary cross-entropy; weights are data, of x's shape.
Tensor weighted_binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weights);

}  // namespace fovea
