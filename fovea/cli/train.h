#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

// Its flags are those of `task` over the settings of every run.
void add_train_command(CLI::App& app, const std::string& task);

}  // namespace fovea
