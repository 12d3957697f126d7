#pragma once
// Normalisation of each row: its statistics, its result and its gradients.
#include <cstdint>

#include "fovea/base/view.h"
#include "fovea/kernels/dropout.h"

namespace fovea::kernels {

// What forward leaves for backward: the mean as a sum of two floats (so that rows of mean 1000 and
// deviation 1 keep six digits) and 1 / √(variance + eps). rms_norm has no mean.
struct NormStats {
    float mean, mean_rest, inverse;
};

// y = (x − mean) · inverse · gamma + beta. beta may be null. `stats` [rows] may be null.
void layer_norm(ConstView x, const float* gamma, const float* beta, float eps, View y,
                NormStats* stats);
// y = x · inverse · gamma, inverse = 1 / √(mean(x²) + eps)  (Zhang & Sennrich 2019)
void rms_norm(ConstView x, const float* gamma, float eps, View y, NormStats* stats);

// layer_norm of s = x + dropout(branch); mask may be null (no dropout). `sum` receives s where it
// has data (backward needs it). Same bits as the three ops one after the other.
struct ResidualNorm {
    ConstView x, branch;
    const DropoutMask* mask = nullptr;
    const float* gamma = nullptr;
    const float* beta = nullptr;
    float eps = 0;
};
void residual_layer_norm(const ResidualNorm& in, View sum, View y, NormStats* stats);

// Per row, with x̂ = (x − mean) · inverse and g = dy ∘ gamma:
//   dx = inverse · (g − mean(g) − x̂ mean(g ∘ x̂))      dgamma = Σ dy ∘ x̂     dbeta = Σ dy
// (rms_norm: without mean(g) and dbeta). Any of dx, dgamma, dbeta may be null. dgamma and dbeta are
// summed over chunks of rows of a fixed size, and the chunks as a tree; `partial` holds
// norm_partial_size(rows, cols) floats.
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
void rms_norm_backward(ConstView dy, ConstView x, const float* gamma, const NormStats* stats,
                       const NormGradients& out);

}  // namespace fovea::kernels
