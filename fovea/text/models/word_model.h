#pragma once
// What the engines have in common: a word in, ids out.
#include <cstdint>
#include <vector>

#include "fovea/base/rng.h"
#include "fovea/text/models/vocabulary.h"
#include "fovea/text/steps/pattern.h"

namespace fovea::text {

// The tokens of one word. Most words are "plain": their tokens lie end to end and each is as long
// as its entry in the vocabulary says, so only the ids are kept (and may be cached). Else `ranges`
// says which bytes of the word each token stands for.
struct WordTokens {
    std::vector<TokenId> ids;
    std::vector<ByteRange> ranges;  // empty where plain

    void clear() {
        ids.clear();
        ranges.clear();
    }
    bool plain() const { return ranges.empty(); }
};

}  // namespace fovea::text
