#pragma once
// Search over a Stepper. Sentences of a batch do not influence each other: a sentence's result is
// the same alone and in any batch, bit for bit, because its logits are.
// Thread-safety: a search uses its stepper alone; searches of different steppers may run at once.
#include <span>
#include <vector>

#include "fovea/infer/search_options.h"
#include "fovea/infer/stepper.h"

namespace fovea {

// n-best lists, best first, one per request. A sentence has at least one hypothesis.
// Usage errors: bad options, a prefix or constraint outside the vocabulary, a coverage penalty for
// a model without a source, no prompt where the model has no default. Scores that are not numbers
// (a model with damaged weights) are an error too.
std::vector<std::vector<Hypothesis>> search(Stepper& stepper, const SearchOptions& options,
                                            std::span<const DecodeRequest> requests,
                                            const SearchHooks& hooks = {});

}  // namespace fovea
