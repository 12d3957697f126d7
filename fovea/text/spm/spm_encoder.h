#pragma once
// SentencePiece's segmentation, as the library does it: unigram by Viterbi in single precision,
// BPE by score, words and characters.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/models/byte_trie.h"
#include "fovea/text/models/char_pairs.h"
#include "fovea/text/models/vocabulary.h"
#include "fovea/text/models/word_cache.h"
#include "fovea/text/spm/sentencepiece_model.h"
#include "fovea/text/spm/spm_normalizer.h"
#include "fovea/text/steps/pattern.h"

namespace fovea::text {

struct SpmToken {
    TokenId id;
    ByteRange piece;   // bytes of the normalised text
    ByteRange origin;  // bytes of the text
};

struct SpmScratch {
    struct Node {
        float score;
        TokenId id;
        std::int32_t start;  // -1: not reached
    };
    struct Symbol {
        std::uint32_t begin, size;  // size 0: merged into the one before
        std::int32_t prev, next;
        bool frozen;  // a user-defined symbol
    };
    struct Pair {
        float score;
        std::int32_t left, right;
        std::uint32_t size;
    };
    std::string text;
    std::vector<std::uint32_t> origin;
    std::vector<Node> ends;
    std::vector<Symbol> symbols;
    std::vector<Pair> heap;
    std::vector<std::pair<TokenId, ByteRange>> pieces;
    std::vector<TokenId> ids;
    WordCache cache;
};

class SpmEncoder {
public:
    SpmEncoder(SentencePieceModel model, const std::string& where);
    SpmEncoder(const SpmEncoder&) = delete;
    SpmEncoder& operator=(const SpmEncoder&) = delete;

    // Appends the tokens of a text (valid UTF-8). With origins == false only id and piece are set.
    // Unknown text keeps its piece; scratch.text holds the normalised text afterwards.
    void encode(std::string_view text, bool origins, std::vector<SpmToken>& out,
                SpmScratch& scratch) const;

    // The text of pieces (those of the model, or any other).
    std::string decode(const std::vector<std::string_view>& pieces) const;

    const SentencePieceModel& model() const { return model_; }
    TokenId find(std::string_view piece) const;  // -1 where there is none
    TokenId byte_id(unsigned char b) const { return byte_ids_[b]; }

private:
    void encode_unigram(SpmScratch& scratch) const;
    float encode_unigram_word(std::size_t begin, std::size_t end, float score, SpmScratch& scratch,
                              float& limit) const;
    float add_cached(std::span<const TokenId> ids, std::size_t begin, float score,
                     SpmScratch& scratch) const;
    void encode_bpe(SpmScratch& scratch) const;
    void encode_bpe_part(std::size_t begin, std::size_t end, SpmScratch& scratch) const;
    void encode_words(SpmScratch& scratch) const;
    void encode_characters(SpmScratch& scratch) const;
    TokenId piece_or_unk(std::string_view piece) const;

    SentencePieceModel model_;
    ByteTrie trie_;  // pieces that text can become
    ByteTrie user_symbols_;
    Vocabulary reserved_;        // control, unknown and byte pieces
    std::vector<float> scores_;  // as unigram adds them; user-defined ones with their bonus
    std::vector<bool> unused_;
    bool any_unused_ = false;
    CharPairs joined_;          // BPE: neighbours inside of some piece
    bool words_apart_ = false;  // no piece goes on beyond a mark: words are independent
    float unk_score_ = 0;
    std::array<TokenId, 256> byte_ids_{};
    SpmNormalizer normalizer_;
};

}  // namespace fovea::text
