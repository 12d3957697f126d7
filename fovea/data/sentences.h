#pragma once
// Where sentences end in plain text: full stops (not those of abbreviations, initials and numbers),
// exclamation and question marks, with the quotes and brackets that close behind them; the full
// stops of Chinese and Japanese, which no space follows; line breaks, unless the next line goes on
// in lower case; blank lines. Rules, not a model: pretraining wants units of about a sentence.
// Thread-safety: a pure function.
#include <cstddef>
#include <string_view>
#include <vector>

namespace fovea {

struct TextPart {
    std::size_t begin = 0, end = 0;  // bytes
    bool operator==(const TextPart&) const = default;
};

// The sentences of a text (valid UTF-8), in order, without the white space around them.
std::vector<TextPart> split_sentences(std::string_view text);

}  // namespace fovea
