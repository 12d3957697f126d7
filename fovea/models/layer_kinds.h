#pragma once
// What a config.json says of the attentions of its layers. Thread-safety: a pure function.
#include <string>

#include "fovea/base/json_fields.h"
#include "fovea/nn/attention_kind.h"

namespace fovea {

// Empty where it says nothing. Its words are bad input, not bad usage.
LayerKinds layer_kinds_in(JsonFields& fields, const char* key, int layers,
                          const std::string& where);

}  // namespace fovea
