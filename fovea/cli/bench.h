#pragma once
// fovea bench kernels
#include <CLI/CLI.hpp>

namespace fovea {

void add_bench_command(CLI::App& app);

}  // namespace fovea
