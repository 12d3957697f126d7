#pragma once
// The words of a unigram training as numbers, and pieces as places in them.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text/train/train_word_counts.h"

namespace fovea {

using Symbol = std::uint32_t;  // 1 … alphabet size; 0 never occurs

// All words end to end, cut where a character is not in the alphabet.
struct UnigramText {
    std::vector<Symbol> symbols;
    std::vector<std::size_t> begin;       // of each word, and the end of the last
    std::vector<std::int64_t> counts;     // of each word
    std::vector<std::uint32_t> alphabet;  // the code point of symbol s is alphabet[s - 1]

    UnigramText(const WordCounts& words, std::vector<std::uint32_t> code_points);
    std::size_t words() const { return counts.size(); }
    std::span<const Symbol> word(std::size_t i) const {
        return {symbols.data() + begin[i], begin[i + 1] - begin[i]};
    }
    std::string spelled(std::span<const Symbol> piece) const;
};

// A piece: its symbols lie at `at` in UnigramText::symbols. Single characters that occur nowhere
// (of the initial alphabet) have length 0 and their symbol in `at`.
struct SeedPiece {
    std::size_t at;
    std::uint32_t length;
    double weight;  // occurrences x length
};

// The `limit` heaviest substrings of two to max_length symbols that occur at least twice and
// cannot be extended to the right without losing an occurrence, heaviest first.
std::vector<SeedPiece> find_seeds(const UnigramText& text, std::size_t max_length,
                                  std::size_t limit);

}  // namespace fovea
