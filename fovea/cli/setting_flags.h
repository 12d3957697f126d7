#pragma once
// Settings of a task as flags of a verb.
#include <CLI/CLI.hpp>

#include "fovea/base/settings.h"

namespace fovea {

// A flag for each setting, under the titles of their groups. Values are checked by the settings
// themselves, before the verb runs. The Settings must outlive the parser.
void add_setting_flags(CLI::App& verb, Settings& settings);

}  // namespace fovea
