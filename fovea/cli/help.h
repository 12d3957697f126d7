#pragma once
// Help texts from the parser: usage, one sentence, three examples, the common flags. Flags of the
// group "More" and the global ones come with --help-all.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fovea {

// The examples of a verb, shown in its help. Lines of plain shell.
void set_examples(CLI::App& verb, const std::vector<std::string>& lines);
std::vector<std::string> examples_of(const CLI::App& verb);

// Group names with a meaning here.
inline constexpr const char* more_group = "More";  // of a flag or verb: shown on demand
inline constexpr const char* hidden_group = "";    // of a verb: never shown
// Flags under a title of their own ("data", "model"), shown on demand.
inline std::string more_group_of(const std::string& title) { return "More: " + title; }

// "fovea bench kernels"
std::string full_name(const CLI::App& verb);

// Allowed values of an option with a fixed set, else empty.
std::vector<std::string> choices_of(const CLI::Option& option);

std::string help_text(const CLI::App& verb, bool all, int width);

// The same for every verb as Markdown tables: the source of docs/command-line.md.
std::string help_markdown(const CLI::App& app);

void add_help_command(CLI::App& app);

}  // namespace fovea
