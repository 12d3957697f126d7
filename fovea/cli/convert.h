#pragma once
// `fovea convert`: a model folder in another number format, with today's names, in one file.
#include <CLI/CLI.hpp>

namespace fovea {

void add_convert_command(CLI::App& app);

}  // namespace fovea
