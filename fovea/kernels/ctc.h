#pragma once
// Connectionist temporal classification (Graves et al. 2006): sums over all alignments of a short
// sequence of labels with a long one of frames, in double. Sequences lie end to end; each is
// computed by itself, so its numbers do not depend on others.
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

struct CtcProblem {
    ConstView logits;                             // [frames, classes]
    std::span<const std::int64_t> frames;         // offsets of the sequences
    std::span<const std::int32_t> labels;         // of all sequences, end to end
    std::span<const std::int64_t> label_offsets;  // of the same sequences
    std::int32_t blank = 0;
};

// −log p(labels | logits) of each sequence; +∞ where its labels need more frames than it has.
void ctc_losses(const CtcProblem& problem, double* losses);

// Gradient of Σ factors[s] · loss[s], added to `to` or written over it; zero for infinite losses.
void ctc_backward(const CtcProblem& problem, const double* losses, const float* factors, View to,
                  bool add);

}  // namespace fovea::kernels
