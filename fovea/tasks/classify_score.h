#pragma once
// What a report of a classifier shows. Thread-safety: pure functions.
#include <string>

#include "fovea/base/json.h"

namespace fovea {

// The confusion matrix of a score's figures as lines of text: all of a small one, the most frequent
// mistakes of a large one.
std::string confusion_table(const Json& figures);

}  // namespace fovea
