#pragma once
#include <CLI/CLI.hpp>

namespace fovea {

// `fovea inspect`: what a model is, and where it looks in a text.
void add_inspect_command(CLI::App& app);

}  // namespace fovea
