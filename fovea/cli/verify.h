#pragma once
#include <CLI/CLI.hpp>

namespace fovea {

void add_verify_command(CLI::App& app);

}  // namespace fovea
