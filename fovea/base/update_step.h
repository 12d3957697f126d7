#pragma once
// What one step of an optimizer is told; the formulas are in kernels/adam.h and kernels/sgd.h.
#include <cstdint>

namespace fovea {

struct AdamStep {
    float rate = 1e-3f;
    float beta1 = 0.9f, beta2 = 0.999f;
    float eps = 1e-8f;
    float decay = 0;           // w ← w − rate · decay · w
    float gradient_scale = 1;  // clipping, folded in: g ← scale · g
    std::int64_t step = 1;     // the first is 1
};

struct SgdStep {
    float rate = 0.1f;
    float momentum = 0;
    float decay = 0;           // L2: g ← g + decay · w
    float gradient_scale = 1;  // clipping, folded in
    bool nesterov = false;
};

}  // namespace fovea
