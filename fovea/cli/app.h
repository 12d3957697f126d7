#pragma once
// The command line as a whole: the verbs, the global flags, and what becomes of errors.
#include <CLI/CLI.hpp>
#include <memory>

#include "fovea/cli/command_line.h"

namespace fovea {

// The parser with every verb. A verb is one function add_VERB_command(CLI::App&) in its own file,
// and one line in app.cpp.
std::unique_ptr<CLI::App> make_app();

}  // namespace fovea
