#pragma once
// Connectionist temporal classification (Graves et al. 2006): labels of a sequence of frames whose
// places in it nobody knows. Computed in double, each sequence by itself: its bits depend on no
// neighbour and no thread.
#include <cstdint>
#include <span>

#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct CtcOptions {
    std::int32_t blank = 0;
    // none: one loss for each sequence; sum: of them; mean, as PyTorch has it: of each loss over
    // the number of its labels (at least 1).
    Reduction reduction = Reduction::mean;
};

// −log of the sum over all alignments of p(labels | logits), softmax inside.
// logits [frames.total, classes]; labels [targets.total], one sequence of them for each of frames.
// A sequence that has too few frames for its labels (see ctc_frames_needed) has no alignment: its
// loss is 0 and so is its gradient (PyTorch's zero_infinity); it counts in the mean.
Tensor ctc_loss(const Tensor& logits, const Segments& frames, const Ids& labels,
                const Segments& targets, const CtcOptions& options = {});

// One for each label, and one for the blank between two that are the same.
std::int64_t ctc_frames_needed(std::span<const std::int32_t> labels);

}  // namespace fovea
