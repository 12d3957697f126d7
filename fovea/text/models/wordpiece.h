#pragma once
// WordPiece: the longest piece that fits, again and again (Wu et al. 2016; Devlin et al. 2018).
#include <cstdint>
#include <string_view>
#include <vector>

#include "fovea/text/models/byte_trie.h"
#include "fovea/text/models/word_model.h"
#include "fovea/text/spec.h"

namespace fovea::text {

class WordPiece {
public:
    explicit WordPiece(const WordPieceSpec& spec);  // the spec must outlive it

    void encode(std::string_view word, WordTokens& out) const;

    // Bytes of the word that a token of a plain result stands for.
    std::size_t length(TokenId id, bool first, bool, std::size_t word_size) const {
        if (id == unk_) return word_size;
        const std::size_t n = spec_->vocab.token(id).size();
        return first ? n : n - prefix_size_;
    }

private:
    const WordPieceSpec* spec_;
    TokenId unk_;  // -1: not in the vocabulary
    std::size_t prefix_size_;
    ByteTrie trie_;
    ByteTrie::Base continuing_ = 0;  // where pieces after the first one start
};

}  // namespace fovea::text
