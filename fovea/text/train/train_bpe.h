#pragma once
// Byte-pair encoding, trained (Sennrich et al. 2016, section 3.2): join the most frequent pair of
// neighbouring symbols, again and again. The order of merges equals that of the trainer of Hugging
// Face's `tokenizers`: ties go to the pair whose symbols have the smaller ids, ids are given to
// special tokens, then to the characters in code point order, then to merges as they are made.
// WordPiece's trainer there is this one with the prefix "##", and so is ours.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/text/spec.h"
#include "fovea/text/train/train_progress.h"
#include "fovea/text/train/train_word_counts.h"

namespace fovea {

struct BpeTraining {
    std::int64_t vocab_size = 30000;  // special tokens and alphabet included
    std::int64_t min_frequency = 0;   // of a pair that is merged
    std::vector<std::string> special_tokens = {};
    // Characters beyond the limit lose their place, rarest first (ties: larger code points first).
    std::optional<std::int64_t> limit_alphabet = {};
    std::vector<std::string> initial_alphabet = {};  // characters that are in, seen or not
    std::string continuing_subword_prefix = {};      // before every character but a word's first
    std::string end_of_word_suffix = {};             // after a word's last character
    std::int64_t max_token_length = 0;               // characters; 0 = no limit
    TrainProgressCallback progress = {};
};

struct TrainedBpe {
    std::vector<std::string> vocab;  // by id
    std::vector<Merge> merges;       // by rank
};

// Words are UTF-8; for byte-level BPE in the printable spelling ("Ġthe"), as WordSplitter gives.
TrainedBpe train_bpe(const WordCounts& words, const BpeTraining& options);

}  // namespace fovea
