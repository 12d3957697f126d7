#pragma once
// Unigram (Kudo 2018): the segmentation of a word with the best sum of scores, by Viterbi search
// over the pieces that match. Scores are added in double precision and of equal sums the one found
// first is kept, as in Hugging Face's tokenizers.
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fovea/text/models/byte_trie.h"
#include "fovea/text/models/word_model.h"
#include "fovea/text/spec.h"

namespace fovea::text {

struct UnigramScratch {
    struct Node {
        double score;
        TokenId id;
        std::uint32_t start;
    };
    std::vector<Node> ends;  // best way to each byte
};

class Unigram {
public:
    explicit Unigram(const UnigramSpec& spec);  // the spec must outlive it

    void encode(std::string_view word, WordTokens& out, UnigramScratch& scratch) const;

    std::size_t length(TokenId id, bool, bool, std::size_t) const {
        return spec_->vocab[static_cast<std::size_t>(id)].piece.size();
    }
    TokenId find(std::string_view piece) const;  // -1 where there is none

private:
    const UnigramSpec* spec_;
    ByteTrie trie_;
    std::vector<double> scores_;
    double unk_score_ = 0;
    std::array<TokenId, 256> byte_ids_{};
};

}  // namespace fovea::text
