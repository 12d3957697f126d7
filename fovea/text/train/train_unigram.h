#pragma once
// A unigram language model over pieces, trained (Kudo 2018, "Subword regularization", section 3.2):
// many seed pieces, then expectation maximisation and pruning of the pieces whose loss is missed
// least, in turn, until the vocabulary has the size wanted. Deterministic: ties are broken by the
// piece's text, and sums are taken in the same order whatever the threads.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/text/spec.h"
#include "fovea/text/train/train_progress.h"
#include "fovea/text/train/train_word_counts.h"

namespace fovea {

struct UnigramTraining {
    std::int64_t pieces = 8000;  // to learn; every character of the alphabet is one of them
    std::optional<std::int64_t> limit_alphabet = {};  // as in train_bpe.h
    std::vector<std::string> initial_alphabet = {};
    std::int64_t max_piece_length = 16;  // characters
    std::int64_t seed_size = 1000000;    // pieces to begin with
    double shrinking_factor = 0.75;      // pieces that survive one round of pruning
    int em_steps = 2;                    // between two prunings
    TrainProgressCallback progress = {};
};

// The pieces with their log probabilities, most probable first.
std::vector<UnigramPiece> train_unigram(const WordCounts& words, const UnigramTraining& options);

}  // namespace fovea
