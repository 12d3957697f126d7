#pragma once
// The command line as a whole: the verbs, the global flags, and what becomes of errors.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "fovea/cli/command_line.h"

namespace fovea {

// The parser with every verb. A verb is one function add_VERB_command(CLI::App&) in its own file,
// and one line in app.cpp. `words` are those of the command line: flags of `train`, `eval` and
// `predict` follow the task that they name (task_words.h).
std::unique_ptr<CLI::App> make_app(const std::vector<std::string>& words = {});

}  // namespace fovea
