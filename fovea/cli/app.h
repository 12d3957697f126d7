#pragma once
// The command line as a whole: the verbs, the global flags, and what becomes of errors.
#include <CLI/CLI.hpp>
#include <memory>

namespace fovea {

// The parser with every verb. A verb is one function add_VERB_command(CLI::App&) in its own file,
// and one line in app.cpp.
std::unique_ptr<CLI::App> make_app();

// Parses, runs the verb, reports. Returns the exit code: 0 ok, 1 failed while working, 2 wrong
// usage, 3 bad input data, 4 file or model not found or not readable, 5 a requested bound was
// missed, 6 server busy or unreachable, 130 Ctrl-C, 143 SIGTERM.
int run_command_line(int argc, char** argv);

}  // namespace fovea
