#pragma once
// Sizes that a text encoder does not have are no flags of it. Thread-safety: pure functions.
#include <string>

#include "fovea/base/settings.h"

namespace fovea {

// A size (EncoderChoice) that was given but that `model` has not is a usage error; those that it
// has not are not written down.
void check_encoder_sizes(Settings& settings, const std::string& model);

}  // namespace fovea
