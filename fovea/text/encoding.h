#pragma once
// What encode() gives: parallel arrays, one entry per token.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/text/models/vocabulary.h"

namespace fovea {

// [begin, end) in the original text. (0, 0) for tokens that stand for no text.
struct TextSpan {
    std::int32_t begin = 0, end = 0;
    bool operator==(const TextSpan&) const = default;
};

struct Encoding {
    std::vector<TokenId> ids;
    std::vector<std::string> tokens;
    std::vector<TextSpan> offsets;           // in characters (code points) unless asked otherwise
    std::vector<std::int32_t> type_ids;      // segment: 0 or 1
    std::vector<std::int32_t> word_ids;      // pre-token the piece is of, from 0; -1 = special
    std::vector<std::int32_t> sequence_ids;  // 0 = text, 1 = its pair, -1 = special
    std::vector<std::uint8_t> special_mask;  // 1 = added by the post-processor
    std::vector<Encoding> overflowing;       // the parts that truncation cut off

    std::size_t size() const { return ids.size(); }
};

}  // namespace fovea
