#pragma once
// Search over a Stepper. Sentences of a batch do not influence each other: a sentence's result is
// the same alone and in any batch, bit for bit, because its logits are.
// Thread-safety: a search uses its stepper alone; searches of different steppers may run at once.
#include <vector>

#include "fovea/infer/search_options.h"
#include "fovea/infer/stepper.h"

namespace fovea {

// n-best lists, best first, one per sentence. `requests` is empty or has one entry per sentence;
// `sample_ids` likewise: they key random draws (default: the index in the batch).
std::vector<std::vector<Hypothesis>> search(Stepper& stepper, const SearchOptions& options,
                                            const std::vector<DecodeRequest>& requests = {},
                                            const std::vector<std::uint64_t>& sample_ids = {});

}  // namespace fovea
