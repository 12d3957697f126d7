#pragma once
// Byte-pair encoding (Gage 1994; Sennrich et al. 2016): of all neighbouring symbols the pair that
// was learnt first is joined, the leftmost of equals, until no pair is left that was learnt.
//
// Words are characters, or (byte mode) the bytes themselves with GPT-2's spelling left out.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/text/models/char_pairs.h"
#include "fovea/text/models/word_model.h"
#include "fovea/text/spec.h"

namespace fovea::text {

struct BpeScratch {
    struct Symbol {
        TokenId id;
        std::uint32_t length;     // bytes; 0 = merged into the one before
        std::int32_t prev, next;  // -1 = none
    };
    struct Candidate {
        std::uint32_t rank, position;
        TokenId merged;
    };
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap, skipped;
    std::vector<std::uint32_t> ranks;
    std::string key;
};

class Bpe {
public:
    // `bytes`: words will be raw bytes. Only where can_take_bytes() says so. The spec must outlive
    // it.
    Bpe(const BpeSpec& spec, bool bytes);

    // Whether a word's bytes can be looked up without spelling them: all 256 are in the
    // vocabulary and nothing is added to them.
    static bool can_take_bytes(const BpeSpec& spec);

    // With a generator, merges are dropped at the spec's rate (Provilkov et al. 2020).
    void encode(std::string_view word, WordTokens& out, BpeScratch& scratch,
                Rng* dropout = nullptr) const;

    // End of the part of `text` from `begin` on that no merge can join to what follows; parts can
    // be encoded one by one (and cached). Words that come from a pre-tokeniser rarely have more
    // than one.
    std::size_t part_end(std::string_view text, std::size_t begin) const;
    bool has_parts() const { return parts_; }

    std::size_t length(TokenId id, bool first, bool last, std::size_t) const {
        std::size_t n = lengths_[static_cast<std::size_t>(id)];
        if (!first) n -= prefix_size_;
        if (last) n -= suffix_size_;
        return n;
    }

private:
    struct Slot {
        std::uint64_t pair;  // left << 32 | right; ~0 = free
        std::uint32_t rank;
        TokenId merged;
    };

    const BpeSpec* spec_;
    bool bytes_;
    bool parts_ = false;
    bool lengthens_ = true;  // every merge is longer than its parts: no stale candidates count
    TokenId unk_ = -1;
    std::size_t prefix_size_ = 0, suffix_size_ = 0;
    std::vector<Slot> merges_;
    std::uint64_t mask_ = 0;
    std::array<TokenId, 256> byte_ids_{};  // byte mode: the symbol of a byte; else of <0x..>
    bool byte_fallback_ = false;           // all 256 of <0x00> … <0xFF> may be looked up
    std::vector<std::uint32_t> lengths_;   // by id; in byte mode of the bytes
    Vocabulary raw_;                       // byte mode with ignore_merges: tokens as bytes
    // Pairs of characters (bytes) that some merge joins across.
    std::array<std::uint64_t, 256 * 256 / 64> joined_bytes_{};
    CharPairs joined_chars_;

    const Slot* find_merge(TokenId left, TokenId right) const;
    void add_merges();
    void find_parts();
    bool first_symbols(std::string_view word, BpeScratch& scratch) const;
    void merge_short(BpeScratch& scratch) const;
    void merge_long(BpeScratch& scratch, Rng* dropout) const;
};

}  // namespace fovea::text
