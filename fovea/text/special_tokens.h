#pragma once
// Special tokens as every recipe makes them: looked for as they stand, left out by decode.
#include <string>
#include <utility>
#include <vector>

#include "fovea/text/spec.h"

namespace fovea {

inline AddedToken special_token(std::string content, TokenId id) {
    AddedToken t;
    t.id = id;
    t.content = std::move(content);
    t.normalized = false;
    t.special = true;
    return t;
}

// With the ids 0, 1, 2 … in this order.
inline std::vector<AddedToken> special_tokens(const std::vector<std::string>& contents) {
    std::vector<AddedToken> tokens;
    for (const std::string& c : contents)
        tokens.push_back(special_token(c, static_cast<TokenId>(tokens.size())));
    return tokens;
}

}  // namespace fovea
