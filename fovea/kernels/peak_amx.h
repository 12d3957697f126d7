#pragma once
#include <cstdint>

#include "fovea/kernels/pack.h"

namespace fovea::kernels {

// `rounds` times four tile products that wait for nothing; returns how many operations that were.
double amx_register_loop(Format format, std::int64_t rounds);

}  // namespace fovea::kernels
