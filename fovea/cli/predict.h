#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

// `predict`, whose flags are those of `task` ("": of none), and a verb for each task.
void add_predict_commands(CLI::App& app, const std::string& task);

}  // namespace fovea
