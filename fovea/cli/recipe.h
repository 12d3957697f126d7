#pragma once
// Recipes: flags of a verb kept in a TOML file (`--config recipes/x.toml`). A flag given on the
// command line wins over the file; an unknown key is an error that names the line.
#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace fovea {

// The keys of a flat TOML file: `key = value`, comments, and at most one [section] per verb.
// Values are strings, numbers or true/false.
std::vector<std::pair<std::string, std::string>> read_recipe(const std::string& path,
                                                             const std::string& section);

// Gives each key to the verb's flag of the same name (lr, max-tokens …) unless the flag was given.
void apply_recipe(CLI::App& verb, const std::string& path);

// All flags that have a value, as a recipe: what RUN/config.toml holds.
std::string recipe_text(const CLI::App& verb);

}  // namespace fovea
