#pragma once
#include <CLI/CLI.hpp>

namespace fovea {

void add_eval_command(CLI::App& app);
void add_average_command(CLI::App& app);

}  // namespace fovea
