#pragma once
// What is computed inside is data to the tape: no gradient flows into it, and nothing is dropped.
#include <functional>

#include "fovea/tensor/tensor.h"

namespace fovea {

void without_gradient(const std::function<void()>& compute);

}  // namespace fovea
