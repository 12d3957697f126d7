#pragma once
// The text of one sample while its tokens come: in whole characters, and only up to the first of
// some strings that end it, wherever the borders of tokens lie. What may be the beginning of such a
// string waits until it is certain.
// Not thread-safe: it belongs to one sample.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/text/tokenizer.h"

namespace fovea {

class StoppableText {
public:
    // `prompt` is read first and not given out: how a decoder writes a token may hang on what
    // stands before it. `stops`: none of them empty. Both and the tokenizer outlive this.
    StoppableText(const Tokenizer& tokenizer, std::span<const TokenId> prompt,
                  std::span<const std::string> stops);

    std::string push(TokenId token);  // the text that is certain now, often empty
    std::string finish();             // what was held back; call it once, at the end

    bool stopped() const { return stopped_by_.has_value(); }
    const std::string& stopped_by() const { return *stopped_by_; }

private:
    std::string take(std::string fresh);

    StreamDecoder decoder_;
    std::span<const std::string> stops_;
    std::string held_;
    std::optional<std::string> stopped_by_;
};

}  // namespace fovea
