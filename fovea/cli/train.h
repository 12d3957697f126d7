#pragma once
#include <CLI/CLI.hpp>

namespace fovea {

void add_train_command(CLI::App& app);

}  // namespace fovea
