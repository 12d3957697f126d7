#pragma once
// Normalisation of rows.
#include "fovea/tensor/tensor.h"

namespace fovea {

// y = (x − mean) / √(variance + eps) ∘ gamma + beta for each row (Ba et al. 2016). beta may be
// empty.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps = 1e-5f);

}  // namespace fovea
