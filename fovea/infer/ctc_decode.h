#pragma once
// From scores of units and the blank for each frame to the units that were said: the best path, a
// beam over prefixes (Hannun et al. 2014, "First-Pass Large Vocabulary Continuous Speech
// Recognition using Bi-Directional Recurrent DNNs", alg. 1), and where in time units lie.
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/base/view.h"
#include "fovea/tensor/segments.h"

namespace fovea {

struct CtcHypothesis {
    Ids units;
    double score = 0;  // log p: of the path (greedy), of all paths in the beam (beam)
};

// The likeliest unit of each frame; repeats once, then no blanks. logits [frames, units].
CtcHypothesis ctc_greedy(ConstView logits, std::int32_t blank = 0);

// Up to `width` hypotheses, best first. A prefix's score is the sum over its paths.
std::vector<CtcHypothesis> ctc_beam(ConstView logits, int width, std::int32_t blank = 0);

// The frames [begin, end) of each unit on the likeliest path of these units; empty where there are
// too few frames for them.
struct UnitFrames {
    std::int64_t begin = 0, end = 0;
    double probability = 0;  // mean over its frames
};
std::vector<UnitFrames> ctc_align(ConstView logits, std::span<const std::int32_t> units,
                                  std::int32_t blank = 0);

}  // namespace fovea
