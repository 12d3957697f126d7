#pragma once
// Words as they are written: each different one once, with what a reader wants to know of it; and
// what is known of the words of two texts that are read together (Chen et al. 2017, §3.2: exact
// match, lower case, term frequency; the beginning of a word stands for its lemma).
// Not thread-safe: words are added by one thread; reading is safe from many once none is added.
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/tensor/segments.h"

namespace fovea {

class WordForms {
public:
    static constexpr std::int32_t edge = 256;        // the letter before and behind a word
    static constexpr std::size_t most_letters = 16;  // bytes of a word that are looked at

    struct Form {
        Ids letters;                            // edge, its bytes, edge; "": none
        std::int32_t lower = 0, beginning = 0;  // equal for equal ones
        bool capital = false, capitals = false, digit = false, sign = false;
    };

    std::int32_t add(std::string_view word);  // its number
    const Form& operator[](std::int32_t form) const {
        return forms_[static_cast<std::size_t>(form)];
    }

private:
    std::int32_t key(const std::string& text);

    std::deque<std::string> words_;  // as written; they stay where they are
    std::unordered_map<std::string_view, std::int32_t> numbers_;
    std::unordered_map<std::string, std::int32_t> keys_;
    std::vector<Form> forms_;
};

// Of each word:
//   0-2  it stands in the other text: as written, in lower case, its first five characters
//   3    and so does the word before or behind it, beside it
//   4    how often it stands in its own text, in eighths, at most 1
//   5-8  it begins with a capital, has only capitals, has a digit, is no word but a sign
//   9    it is a word of the question
constexpr int reading_features = 10;
// The rows of the question's words, then of the context's, appended to `to`.
void append_reading_features(const WordForms& forms, std::span<const std::int32_t> question,
                             std::span<const std::int32_t> context, std::vector<float>& to);

}  // namespace fovea
