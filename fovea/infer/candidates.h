#pragma once
// Changes to a row of logits before the best tokens are picked from it.
// Thread-safety: pure functions, safe from any thread.
#include <span>

#include "fovea/infer/search_options.h"

namespace fovea {

struct LogitControls {
    const SearchOptions& options;
    std::span<const std::int32_t> end_tokens;

    // Repetition penalty, forbidden n-grams, bad words, banned tokens, no end before min_length. A
    // forbidden token's logit becomes -infinity. `seen`: the tokens that count, newest last, of
    // which `produced` are not the prompt's.
    void apply(std::span<float> logits, const Ids& seen, std::size_t produced) const;
};

}  // namespace fovea
