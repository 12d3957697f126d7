#pragma once
// The precision of the whole run, for rooms that do not see kernels/.
#include <string>

#include "fovea/tensor/tensor.h"

namespace fovea {

void set_run_precision(const std::string& name);  // "f32" or "bf16"; anything else is a usage error
std::string run_precision();

}  // namespace fovea
