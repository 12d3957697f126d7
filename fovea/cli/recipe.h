#pragma once
// Recipes: settings of a verb kept in a TOML file (`--config recipes/x.toml`, RUN/config.toml). A
// flag given on the command line wins over the file; an unknown key is an error that names it.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/settings.h"

namespace fovea {

// The keys of a flat TOML file: `key = value`, comments, and at most one [section] per verb.
// Values are strings, numbers, true/false or lists of strings (as their text).
std::vector<std::pair<std::string, std::string>> read_recipe(const std::string& path,
                                                             const std::string& section);

// The same for a recipe's text.
std::vector<std::pair<std::string, std::string>> parse_recipe(const std::string& text,
                                                              const std::string& section);

// Gives each key to the setting of the same name (lr, max-tokens …) unless that was given before or
// the key is to be passed over.
void apply_recipe(Settings& settings, const std::string& path, const std::string& section,
                  const std::set<std::string>& pass_over = {});

// What a run computes, as a recipe: every setting with its value now, paths made absolute.
std::string recipe_text(const Settings& settings, const std::string& section);

// What differs from the run's recipe of before, as "lr 0.001 → 0.002, …"; empty: nothing.
std::string changed_settings(const std::string& old_recipe, const std::string& new_recipe_text);

}  // namespace fovea
