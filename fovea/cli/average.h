#pragma once
#include <CLI/CLI.hpp>

namespace fovea {

void add_average_command(CLI::App& app);

}  // namespace fovea
