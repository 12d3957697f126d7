#pragma once
// From the encodings of one text or a pair to the final one: offsets trimmed, special tokens added.
#include <string_view>
#include <vector>

#include "fovea/text/encoding.h"
#include "fovea/text/spec.h"

namespace fovea::text {

// Appends b to a. Parts that truncation cut off are combined, each with each, as tokenizers does.
void append(Encoding& a, const Encoding& b);

// Cuts an encoding down to max_length tokens; the rest goes into `overflowing`, in pieces of
// max_length that share `stride` tokens.
void truncate(Encoding& e, std::int64_t max_length, std::int64_t stride, Direction direction);

// One text (or the pair in encodings[1]) by a strategy; max_length without special tokens.
void truncate(std::vector<Encoding>& encodings, const Truncation& how);

// Takes the white space that byte-level tokens carry out of their offsets.
void trim_offsets(Encoding& e, bool add_prefix_space);

class PostProcessorChain {
public:
    explicit PostProcessorChain(const std::vector<PostProcessorStep>& steps) : steps_(steps) {}

    // Throws bad_input where a special token that may be added has an id outside [0, end): the ids
    // stand in the file beside the names, and a file may say anything.
    void check_ids(TokenId end) const;

    std::int64_t tokens_added(bool pair) const;
    Encoding process(std::vector<Encoding> encodings, bool add_special_tokens) const;

    // The ids that are put before and after one text; false where they depend on the text.
    bool around(std::vector<TokenId>& before, std::vector<TokenId>& after) const;

private:
    std::vector<PostProcessorStep> steps_;
};

}  // namespace fovea::text
