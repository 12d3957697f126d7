#pragma once
// fovea demo
#include <CLI/CLI.hpp>

namespace fovea {

void add_demo_command(CLI::App& app);

}  // namespace fovea
