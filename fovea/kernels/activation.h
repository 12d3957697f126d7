#pragma once
// Activations and their derivatives over dense arrays of n values. `saved` is what the derivative
// is computed from: the output y for relu, tanh and sigmoid, the input x for the others (see
// needs_input).
#include <cstdint>

#include "fovea/base/act.h"

namespace fovea::kernels {

inline bool needs_input(Act act) {
    return act == Act::gelu || act == Act::gelu_tanh || act == Act::swish;
}

void activate(Act act, const float* x, float* y, std::int64_t n);
// dx = dy · act'(…), or dx += …. dx may be dy.
void activate_backward(Act act, const float* dy, const float* saved, float* dx, std::int64_t n,
                       bool accumulate = false);

void sigmoid(const float* x, float* y, std::int64_t n);
void sigmoid_backward(const float* dy, const float* y, float* dx, std::int64_t n,
                      bool accumulate = false);

}  // namespace fovea::kernels
