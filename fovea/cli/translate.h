#pragma once
#include <CLI/CLI.hpp>

namespace fovea {

void add_translate_command(CLI::App& app);
void add_summarise_command(CLI::App& app);

}  // namespace fovea
