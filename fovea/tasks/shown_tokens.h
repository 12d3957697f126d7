#pragma once
// Tokens as a person reads them.
#include <string>
#include <vector>

#include "fovea/tensor/segments.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

// The space marks of byte-level and SentencePiece tokens become a blank, a special token is its
// name, and a token of nothing but space is "␣".
std::string shown_token(const Tokenizer& tokenizer, std::int32_t id);
std::vector<std::string> shown_tokens(const Tokenizer& tokenizer, const Ids& ids);

}  // namespace fovea
