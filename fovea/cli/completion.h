#pragma once
// Completion of verbs, flags and values in the shell, from the parser itself. The scripts are
// short: they ask the hidden verb `__complete` for the candidates, so a new flag needs no new
// script.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fovea {

// Candidates for the last of `words` (which follow the program's name; the last may be empty). None
// means: a file name is expected.
std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words);

void add_completion_command(CLI::App& app);

}  // namespace fovea
