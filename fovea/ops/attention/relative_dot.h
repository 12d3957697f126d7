#pragma once
// For scores that have RelativeDot as a part.
#include "fovea/kernels/attention/attention_relative.h"
#include "fovea/ops/attention/bound_score.h"

namespace fovea {

// Checks it against the call; the parameters are u, v, r.
kernels::RelativeDot kernel_of(const RelativeDot& score, const ScoreCall& call);

}  // namespace fovea
