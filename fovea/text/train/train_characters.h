#pragma once
// The characters of counted words, which both subword trainers start from.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/text/train/train_word_counts.h"

namespace fovea {

struct CharacterCount {
    std::uint32_t code_point;
    std::int64_t count;
};

// Every character of the words with its weighted count, in code point order.
std::vector<CharacterCount> count_characters(const WordCounts& words);

// The alphabet in code point order: the characters of `words` and of `initial`; where a limit is
// given only that many, the most frequent ones (`initial` first; ties: smaller code points first).
std::vector<std::uint32_t> choose_alphabet(const WordCounts& words,
                                           const std::vector<std::string>& initial,
                                           std::optional<std::int64_t> limit);

}  // namespace fovea
