#pragma once
// Texts of two languages as one sequence (Lample and Conneau 2019, figure 1, the translation LM):
// the tokenizer's own template for two texts, with a language embedding for each token and
// positions that begin again with the second text, so that it stands where it would stand alone.
// Either text may stand alone: the template for one text, in its own language.
//
//   tokens     [CLS] the cat [SEP] die Katze [SEP]
//   languages    0    0   0    0    1    1     1
//   positions    0    1   2    3    1    2     3
//
// Thread-safety: once made it does not change; any number of threads may use it.
#include <span>

#include "fovea/data/sequence_frame.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {

class LanguageFrame {
public:
    explicit LanguageFrame(const Tokenizer& tokenizer)
        : one_(single_frame(tokenizer)), two_(pair_frame(tokenizer)) {}

    std::int64_t added(bool both) const { return (both ? two_ : one_).added(); }

    // Where the rows of the two texts begin.
    struct Rows {
        std::int64_t first = 0, second = 0;
    };
    // Appends tokens, languages (as types) and positions; segments are the caller's. An empty text
    // is one that is not there.
    Rows put(std::span<const TokenId> first, std::span<const TokenId> second, TokenBatch& to) const;

private:
    SequenceFrame one_, two_;
};

}  // namespace fovea
