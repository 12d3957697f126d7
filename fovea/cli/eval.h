#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

// Its flags are those of `task` ("": of none).
void add_eval_command(CLI::App& app, const std::string& task);

}  // namespace fovea
