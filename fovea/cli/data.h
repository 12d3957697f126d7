#pragma once
// fovea data check, split and dedupe
#include <CLI/CLI.hpp>

namespace fovea {

void add_data_command(CLI::App& app);

}  // namespace fovea
