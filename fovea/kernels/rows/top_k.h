#pragma once
// The best of each row of logits: what a search over tokens needs.
#include <cstdint>

#include "fovea/base/view.h"

namespace fovea::kernels {

// For each row: the k highest (k <= cols) into ids[row·k …], highest first, equal ones by lower id.
// NaN counts as -infinity.
void top_k(ConstView logits, std::int64_t k, std::int32_t* ids);

}  // namespace fovea::kernels
