#pragma once
// Reverse information: what a model that also reads its targets from right to left finds from both
// ends, ranked by agreement (Liu et al. 2016, "Agreement on target-bidirectional neural machine
// translation"):
//   score(y) = rank of ½ (log p→(y | x) + log p←(y | x))
// over the union of both n-best lists of the beam; "rank" is the length penalty of the search.
// Thread-safety: pure functions over models that do not change.
#include <span>
#include <string>
#include <vector>

#include "fovea/tasks/translate.h"

namespace fovea {

std::vector<TranslatedText> reranked(std::span<const Seq2SeqModel* const> models,
                                     std::span<const std::string> texts,
                                     const TranslateOptions& options);

}  // namespace fovea
