#pragma once
// The decoder chain: from tokens back to text.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/text/spec.h"
#include "fovea/text/steps/pattern.h"

namespace fovea::text {

class DecoderChain {
public:
    explicit DecoderChain(const std::optional<std::vector<DecoderStep>>& steps);

    // Joins the tokens. Always valid UTF-8.
    std::string decode(std::vector<std::string> tokens) const;

private:
    struct Step {
        DecoderStep spec;
        std::shared_ptr<const Matcher> matcher;  // Replace
    };
    bool none_ = false;  // no decoder: joined by spaces
    std::vector<Step> steps_;
};

}  // namespace fovea::text
