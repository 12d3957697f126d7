#pragma once
// Attention maps of a comparison's page. Thread-safety: pure functions.
#include <string>
#include <vector>

#include "fovea/tasks/task.h"

namespace fovea {

// The last layer of each attention (mean of its heads) for each input, as figures of SVG. `parts`
// choose attentions by parts of their names; none: all.
std::string map_figures(const Predictor& predictor, const std::string& model,
                        const std::vector<std::string>& inputs,
                        const std::vector<std::string>& parts);

}  // namespace fovea
