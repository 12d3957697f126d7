#pragma once
// fovea doctor
#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

void add_doctor_command(CLI::App& app);

// Three lines about this machine, for `fovea demo`.
std::string machine_in_short();

}  // namespace fovea
