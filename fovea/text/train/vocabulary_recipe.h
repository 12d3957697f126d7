#pragma once
// Vocabularies for the texts of one task, trained on them: kinds with plain names instead of the
// recipes of well-known models (train_tokenizer.h).
// Thread-safety: training one is a function of its arguments; the Tokenizer it gives is thread-
// safe.
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fovea/text/tokenizer.h"
#include "fovea/text/train/train_progress.h"

namespace fovea {

enum class VocabularyKind { bpe, unigram, words, characters };
VocabularyKind vocabulary_kind_of(const std::string& name);

struct VocabularyOptions {
    VocabularyKind kind = VocabularyKind::bpe;
    std::int64_t size = 8000;
    bool lowercase = false;
    // Words and merged pairs that are seen less often are left out. 0: by the kind (bpe 2, words
    // 1).
    std::int64_t min_frequency = 0;
    // The special tokens and the template of a well-known recipe (train_tokenizer.h: "bert-cased",
    // "roberta") instead of those below.
    std::string frame = {};
    TrainProgressCallback progress = {};
};

// Ids 0, 1, 2 are <pad>, </s> and <unk>; encode() ends with </s>.
//   bpe         on bytes: nothing is ever unknown
//   unigram     on characters with "▁" for the space
//   words       split at spaces and punctuation
//   characters  every character is a token
Tokenizer train_vocabulary(std::span<const std::string> texts, const VocabularyOptions& options);

}  // namespace fovea
