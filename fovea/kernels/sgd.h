#pragma once
// Stochastic gradient descent with momentum (Sutskever et al. 2013, in the form of PyTorch).
#include <cstdint>
#include <span>

#include "fovea/base/update_step.h"
#include "fovea/base/view.h"

namespace fovea::kernels {

//   g ← scale · g + decay · w    b ← momentum · b + g    w ← w − rate · b
// (Nesterov: w ← w − rate · (g + momentum · b)). b starts as zeros.
void sgd(float* w, const float* g, float* b, std::int64_t n, const SgdStep& step);

// The same for some rows of tables [any, cols]: row i of g belongs to row rows[i] of w and b.
void sgd_rows(float* w, ConstView g, float* b, std::span<const std::int32_t> rows,
              const SgdStep& step);

}  // namespace fovea::kernels
