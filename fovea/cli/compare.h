#pragma once
#include <CLI/CLI.hpp>

namespace fovea {

// fovea compare RECIPE.toml: several models on the same data, budget and seeds, in one table.
void add_compare_command(CLI::App& app);

}  // namespace fovea
