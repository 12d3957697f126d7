#pragma once
// Which source word a target word comes from, read off cross-attention. Pure functions over a model
// that does not change: safe from several threads.
#include <cstdint>
#include <vector>

#include "fovea/tasks/seq2seq_model.h"

namespace fovea {

struct AlignedPair {  // Pharaoh's i-j, source first, counted from 0
    std::int64_t source = 0, target = 0;
};

struct Alignment {
    std::vector<AlignedPair> words;   // of the texts, as spaces part them: one for each target word
    std::vector<AlignedPair> tokens;  // one for each target token
};

// Runs the decoder over `produced` (without </s>) and takes the mean map over the heads of one
// layer's cross-attention (-1: the last but one, which aligns best in practice; Garg et al. 2019).
// A target token belongs to the source token it looks at most; a target word to the source word
// that its tokens together look at most. The source's </s> is nobody's.
Alignment align(const Seq2SeqModel& model, const Ids& source, const Ids& produced, int layer = -1);

}  // namespace fovea
