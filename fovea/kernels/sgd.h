#pragma once
// Stochastic gradient descent with momentum (Sutskever et al. 2013, in the form of PyTorch).
#include <cstdint>

namespace fovea::kernels {

struct SgdStep {
    float rate = 0.1f;
    float momentum = 0;
    float decay = 0;           // L2: g ← g + decay · w
    float gradient_scale = 1;  // clipping, folded in
    bool nesterov = false;
};

//   g ← scale · g + decay · w    b ← momentum · b + g    w ← w − rate · b
// (Nesterov: w ← w − rate · (g + momentum · b)). b starts as zeros.
void sgd(float* w, const float* g, float* b, std::int64_t n, const SgdStep& step);

}  // namespace fovea::kernels
