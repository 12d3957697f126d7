#pragma once
// Stochastic gradient descent with momentum (Sutskever et al. 2013, in the form of PyTorch).
#include <cstdint>

#include "fovea/base/update_step.h"

namespace fovea::kernels {

//   g ← scale · g + decay · w    b ← momentum · b + g    w ← w − rate · b
// (Nesterov: w ← w − rate · (g + momentum · b)). b starts as zeros.
void sgd(float* w, const float* g, float* b, std::int64_t n, const SgdStep& step);

}  // namespace fovea::kernels
