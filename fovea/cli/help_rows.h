#pragma once
// What the parser says of a verb, row by row: what help in a terminal, Markdown and the man page
// are all made of.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fovea {

struct HelpRow {
    std::string left, right;  // a flag and its meaning
};

// "fovea train [FILE]... [--flags]"
std::string usage_line(const CLI::App& verb);

// Sub-verbs, by group: the common ones, or all.
std::vector<HelpRow> verb_rows(const CLI::App& app, bool all);

// Flags or positional arguments, of one title ("data flags"), or of all where it is empty.
std::vector<HelpRow> option_rows(const CLI::App& verb, bool positional, bool all,
                                 const std::string& title = "");

std::vector<std::string> titles_of(const CLI::App& verb);

}  // namespace fovea
