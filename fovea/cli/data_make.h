#pragma once
#include <CLI/CLI.hpp>

namespace fovea {

void add_data_make(CLI::App& data);

}  // namespace fovea
