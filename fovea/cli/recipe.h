#pragma once
// Recipes: flags of a verb kept in a TOML file (`--config recipes/x.toml`). A flag given on the
// command line wins over the file; an unknown key is an error that names the line.
#include <CLI/CLI.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fovea {

// The keys of a flat TOML file: `key = value`, comments, and at most one [section] per verb.
// Values are strings, numbers or true/false.
std::vector<std::pair<std::string, std::string>> read_recipe(const std::string& path,
                                                             const std::string& section);

// The same for a recipe's text.
std::vector<std::pair<std::string, std::string>> parse_recipe(const std::string& text,
                                                              const std::string& section);

// Gives each key to the verb's flag of the same name (lr, max-tokens …) unless the flag was given
// or the key is to be passed over.
void apply_recipe(CLI::App& verb, const std::string& path, const std::set<std::string>& pass_over);

// What a recipe holds besides the flags as they were given.
struct RecipeValues {
    std::map<std::string, std::string> resolved;  // instead of what was given, or was not
    std::set<std::string> left_out;
    std::set<std::string> only_if_given;  // their default text is prose, or belongs to others
};

// All flags of the verb with their values, as a recipe: what RUN/config.toml holds.
std::string recipe_text(const CLI::App& verb, const RecipeValues& values);

}  // namespace fovea
