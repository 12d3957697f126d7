#pragma once
// Normalisation of rows.
#include "fovea/tensor/tensor.h"

namespace fovea {

// y = (x − mean) / √(variance + eps) ∘ gamma + beta for each row (Ba et al. 2016). beta may be
// empty.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps = 1e-5f);

// LN(x + dropout(branch)): a post-norm sublayer's end in one pass. Same bits as the three ops.
struct ResidualNormOptions {
    float dropout = 0;
    float eps = 1e-5f;
};
Tensor residual_layer_norm(const Tensor& x, const Tensor& branch, const Tensor& gamma,
                           const Tensor& beta, const ResidualNormOptions& options = {});

// y = x / √(mean(x²) + eps) ∘ gamma for each row (Zhang & Sennrich 2019).
Tensor rms_norm(const Tensor& x, const Tensor& gamma, float eps = 1e-6f);

}  // namespace fovea
