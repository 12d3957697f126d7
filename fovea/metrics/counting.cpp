#include "fovea/metrics/counting.h"

#include <algorithm>

#include "fovea/metrics/signature.h"

namespace fovea {

double exact_match(std::span<const std::string> predictions,
                   std::span<const std::vector<std::string>> references) {
    reference_count(predictions.size(), references, "exact match");
    std::int64_t right = 0;
    for (std::size_t i = 0; i < predictions.size(); ++i)
        right += std::find(references[i].begin(), references[i].end(), predictions[i]) !=
                 references[i].end();
    return static_cast<double>(right) / static_cast<double>(predictions.size());
}

}  // namespace fovea
