#pragma once
// Models whose head is made anew for other labels, on the body of a folder.
// Thread-safety: pure functions.
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "fovea/tasks/model_folder.h"

namespace fovea {

struct BodyOfModel {
    std::string folder;
    std::span<const NameRule> rules;
    std::span<const std::string> heads;  // patterns of the parameters that are not taken
};

// All parameters but the heads'. `build` makes the model, twice: over the shapes of the files'
// headers, so that whatever is missing or misshapen is one error before any tensor is read, and
// over the store that is returned, where it makes the heads.
std::shared_ptr<ParameterStore> load_but_heads(const BodyOfModel& body,
                                               ModelFolder::NewHead& report,
                                               const std::function<void(ParameterStore&)>& build);

}  // namespace fovea
