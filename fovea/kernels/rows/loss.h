#pragma once
// Cross-entropy of rows of logits against labels, softmax inside, label smoothing (Szegedy et al.
// 2016): the target gives 1 − ε to the label and ε / classes to every class.
#include <cstdint>

#include "fovea/base/view.h"

namespace fovea::kernels {

// What forward leaves for backward: the row's largest logit and 1 / Σ exp(logit − largest). Kept
// apart, so that adding a constant to a row changes nothing.
struct SoftmaxStats {
    float largest, inverse;
};

// loss[i] = log Σ exp(x − m) − (1 − ε)(x[label] − m) − ε mean(x − m), m the row's largest.
// Rows whose label is `ignored` have loss 0.
void cross_entropy(ConstView logits, const std::int32_t* labels, std::int32_t ignored,
                   float smoothing, SoftmaxStats* stats, float* loss);

// dlogits[i, :] = factor[i] · (softmax − (1 − ε) onehot − ε / classes), or += …; zeros for ignored
// rows. dlogits may be the logits.
void cross_entropy_backward(ConstView logits, const std::int32_t* labels, std::int32_t ignored,
                            float smoothing, const SoftmaxStats* stats, const float* factor,
                            View dlogits, bool accumulate = false);

}  // namespace fovea::kernels
