#pragma once
#include <cstdint>

namespace fovea::kernels {

// Σ x², in double: chunks of a fixed size, each in sixteen lanes, added in their order. Not finite
// exactly when a value is not (the square of an f32 cannot overflow a double).
double square_sum(const float* x, std::int64_t n);

}  // namespace fovea::kernels
