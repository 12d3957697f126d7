#pragma once
// Changes to a row of logits before the best tokens are picked from it.
// Thread-safety: pure functions, safe from any thread.
#include <span>

#include "fovea/infer/search_options.h"

namespace fovea {

// Tokens produced so far, newest last, prompt not included.
struct LogitControls {
    const SearchOptions& options;
    std::span<const std::int32_t> end_tokens;

    // Repetition penalty, forbidden n-grams, banned tokens, no end before min_length. A forbidden
    // token's logit becomes -infinity.
    void apply(std::span<float> logits, const Ids& produced) const;
};

}  // namespace fovea
