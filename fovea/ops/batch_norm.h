#pragma once
// Normalisation of columns over the rows of a batch (Ioffe & Szegedy 2015). The one op whose result
// for a row depends on the others, while it trains.
#include "fovea/tensor/tensor.h"

namespace fovea {

struct BatchNormState {  // running averages, [d]: 0 and 1 at first
    Tensor mean, variance;
};

struct BatchNormOptions {
    float momentum = 0.1f;  // share of the new batch in the running averages
    float eps = 1e-5f;
};

struct BatchNormResult {
    Tensor y;
    BatchNormState state;  // what the caller keeps for the next call
};

// While a tape is alive: the batch's own statistics, and running averages moved towards them
// (variance by n − 1, as PyTorch does). Without a tape: batch_norm_fixed, and the state as it was.
BatchNormResult batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const BatchNormState& state, const BatchNormOptions& options = {});

// With given statistics, differentiable in x, gamma and beta (frozen backbones, inference).
Tensor batch_norm_fixed(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                        const BatchNormState& state, float eps = 1e-5f);

}  // namespace fovea
