#pragma once
// Normalisation of each row: its statistics, its result and its gradients.
#include <cstdint>

#include "fovea/base/view.h"

namespace fovea::kernels {

// What forward leaves for backward: the mean as a sum of two floats (so that rows of mean 1000 and
// deviation 1 keep six digits) and 1 / √(variance + eps).
struct NormStats {
    float mean, mean_rest, inverse;
};

// y = (x − mean) · inverse · gamma + beta. beta may be null. `stats` [rows] may be null.
void layer_norm(ConstView x, const float* gamma, const float* beta, float eps, View y,
                NormStats* stats);

// Per row, with x̂ = (x − mean) · inverse and g = dy ∘ gamma:
//   dx = inverse · (g − mean(g) − x̂ mean(g ∘ x̂))      dgamma = Σ dy ∘ x̂     dbeta = Σ dy
// Any of dx, dgamma, dbeta may be null. dgamma and dbeta are summed over chunks of rows of a fixed
// size, and the chunks as a tree; `partial` holds norm_partial_size(rows, cols) floats.
struct NormGradients {
    View dx{};
    bool add_dx = false;
    float* dgamma = nullptr;
    bool add_dgamma = false;
    float* dbeta = nullptr;
    bool add_dbeta = false;
    float* partial = nullptr;
};
std::int64_t norm_partial_size(std::int64_t rows, std::int64_t cols);
void layer_norm_backward(ConstView dy, ConstView x, const float* gamma, const NormStats* stats,
                         const NormGradients& out);

}  // namespace fovea::kernels
