#pragma once
// Masks of a masked language model (Devlin et al. 2019, section 3.1, task 1): 15 % of the tokens
// are to be told; of these 80 % are hidden behind the mask token, 10 % replaced by a random one,
// 10 % left as they are.
//
// Each token's fate is a function of (seed, epoch, its document's name, its place in the document)
// alone: batch, order, threads and the other documents do not matter. Special tokens are never
// chosen. Thread-safety: a Masker does not change; any number of threads may use it.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/data/token_documents.h"
#include "fovea/tensor/segments.h"

namespace fovea {

struct MaskingOptions {
    double share = 0.15;                  // of the tokens are to be told
    double hidden = 0.8, replaced = 0.1;  // of those; the rest stays
    bool whole_words = false;             // all tokens of a word, or none
    bool anew = true;                     // other masks in each epoch
    std::uint64_t seed = 1;
};

// What a masker knows of the tokens.
struct MaskVocabulary {
    TokenId mask = 0;
    std::vector<std::uint8_t> special;    // by id: never chosen, never drawn
    std::vector<std::uint8_t> continues;  // by id: a piece within a word
};
MaskVocabulary mask_vocabulary(const Tokenizer& tokenizer);  // no mask token: an error

// The chosen rows of a sequence (or of a batch of them), and what stood there.
struct ChosenTokens {
    Ids rows, labels;
};

// A run of a document's tokens within a sequence.
struct TextRun {
    std::uint64_t document = 0;  // its name
    std::int64_t place = 0;      // of the first token in the document
    std::int64_t size = 0;
    std::uint32_t again = 0;  // not 0: the run is a guest here, and may stand elsewhere too
};

class Masker {
public:
    Masker(const MaskingOptions& options, MaskVocabulary vocabulary);

    // Masks the tokens of a sequence in place; `runs` say where they come from, in order. Chosen
    // rows are counted from `first_row`. At least one token of a sequence is chosen, if it has one
    // that may be.
    void mask(std::span<TokenId> tokens, std::span<const TextRun> runs, std::int64_t epoch,
              std::int64_t first_row, ChosenTokens& chosen) const;

private:
    struct Draw {
        double choice = 1;        // below the share: chosen
        double fate = 0;          // hidden, replaced or left
        std::uint64_t other = 0;  // which token replaces it
    };
    Draw draw(const TextRun& run, std::int64_t place, std::int64_t epoch) const;
    TokenId masked(TokenId token, const Draw& draw) const;

    MaskingOptions options_;
    MaskVocabulary vocabulary_;
    std::vector<TokenId> ordinary_;  // what a token may be replaced by
};

}  // namespace fovea
