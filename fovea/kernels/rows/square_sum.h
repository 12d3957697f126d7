#pragma once
#include <cstdint>
#include <span>

#include "fovea/base/view.h"

namespace fovea::kernels {

// Σ x², in double: chunks of a fixed size, each in sixteen lanes, added in their order. Not finite
// exactly when a value is not (the square of an f32 cannot overflow a double).
double square_sum(const float* x, std::int64_t n);

// The same bits for a table that is zero but for some of its rows (rising): values [rows, cols].
double square_sum_of_rows(ConstView values, std::span<const std::int32_t> rows);

}  // namespace fovea::kernels
