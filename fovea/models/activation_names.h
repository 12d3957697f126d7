#pragma once
// Activations by the names that config.json gives them. Thread-safety: pure functions.
#include <string>

#include "fovea/base/act.h"

namespace fovea {

// `key` is the field it was read from, for the error of an unknown name.
Act activation_named(const std::string& name, const char* key, const std::string& where);
std::string config_name_of(Act act);

}  // namespace fovea
