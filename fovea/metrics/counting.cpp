#include "fovea/metrics/counting.h"

#include <algorithm>

#include "fovea/metrics/signature.h"

namespace fovea {

bool is_exact_match(const std::string& prediction, const std::vector<std::string>& references) {
    return std::find(references.begin(), references.end(), prediction) != references.end();
}

double exact_match(std::span<const std::string> predictions,
                   std::span<const std::vector<std::string>> references) {
    reference_count(predictions.size(), references, "exact match");
    std::int64_t right = 0;
    for (std::size_t i = 0; i < predictions.size(); ++i)
        right += is_exact_match(predictions[i], references[i]);
    return static_cast<double>(right) / static_cast<double>(predictions.size());
}

}  // namespace fovea
