#pragma once
// fovea score HYP REF…
#include <CLI/CLI.hpp>

namespace fovea {

void add_score_command(CLI::App& app);

}  // namespace fovea
