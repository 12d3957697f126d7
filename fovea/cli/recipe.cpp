#include "fovea/cli/recipe.h"

#include <sstream>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/suggest.h"

namespace fovea {
namespace {

std::string trimmed(const std::string& s) {
    const auto first = s.find_first_not_of(" \t"), last = s.find_last_not_of(" \t");
    return first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

// A value without its quotes and without a comment behind it.
std::string value_of(const std::string& text, const std::string& where) {
    if (!text.empty() && (text[0] == '"' || text[0] == '\'')) {
        const auto end = text.find(text[0], 1);
        expect_input(end != std::string::npos, where, ": the quote is never closed");
        return text.substr(1, end - 1);
    }
    return trimmed(text.substr(0, text.find('#')));
}

const CLI::Option* find_flag(const CLI::App& verb, const std::string& key,
                             std::vector<std::string>& known) {
    for (const CLI::Option* o : verb.get_options())
        for (const std::string& name : o->get_lnames()) {
            if (name == key) return o;
            known.push_back(name);
        }
    // The one global flag that is part of what a run computes.
    return key == "seed" ? verb.get_parent()->get_option_no_throw("--seed") : nullptr;
}

}  // namespace

namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

// One line of a recipe; `current` is the section it stands in.
void take_line(std::string line, const std::string& where, const std::string& section,
               std::string& current, Keys& keys) {
    line = trimmed(line);
    if (line.empty() || line[0] == '#') return;
    if (line[0] == '[') {
        expect_input(line.back() == ']', where, ": a section is written [", section, "]");
        current = trimmed(line.substr(1, line.size() - 2));
        return;
    }
    const auto equals = line.find('=');
    expect_input(equals != std::string::npos, where, ": `key = value` is wanted");
    if (current == section)
        keys.emplace_back(trimmed(line.substr(0, equals)),
                          value_of(trimmed(line.substr(equals + 1)), where));
}

// As TOML writes it: numbers and true/false bare, texts in quotes.
std::string toml_value(const std::string& value) {
    const bool bare =
        !value.empty() && value.find_first_not_of("0123456789.e-") == std::string::npos;
    if (bare || value == "true" || value == "false") return value;
    return value.find('"') == std::string::npos ? '"' + value + '"' : "'" + value + "'";
}

}  // namespace

Keys read_recipe(const std::string& path, const std::string& section) {
    LineReader lines(path);
    Keys keys;
    std::string line, current = section;
    while (lines.next(line))
        take_line(line, text_of(path, ":", lines.line_number()), section, current, keys);
    return keys;
}

Keys parse_recipe(const std::string& text, const std::string& section) {
    Keys keys;
    std::istringstream lines(text);
    std::string current = section;
    for (std::string line; std::getline(lines, line);)
        take_line(line, "recipe", section, current, keys);
    return keys;
}

void apply_recipe(CLI::App& verb, const std::string& path, const std::set<std::string>& pass_over) {
    for (auto& [key, value] : read_recipe(path, verb.get_name())) {
        std::string name = key;
        for (char& c : name)
            if (c == '_') c = '-';
        std::vector<std::string> known;
        auto* option = const_cast<CLI::Option*>(find_flag(verb, name, known));
        if (!option)
            throw Error(path + ": `fovea " + verb.get_name() + "` has no flag --" + name,
                        ErrorKind::usage, "did you mean " + nearest_word(name, known) + "?");
        if (option->count() > 0 || pass_over.count(name)) continue;  // the command line wins
        try {
            option->add_result(value);
            option->run_callback();
        } catch (const CLI::Error& e) {
            throw Error(path + ": " + key + ": " + e.what(), ErrorKind::usage);
        }
    }
}

std::string recipe_text(const CLI::App& verb, const RecipeValues& values) {
    std::string out = "[" + verb.get_name() + "]\n";
    out += "seed = " + std::to_string(global_options().seed) + "\n";
    for (const CLI::Option* o : verb.get_options()) {
        if (o->get_lnames().empty()) continue;
        const std::string& name = o->get_lnames()[0];
        if (name == "help" || name == "help-all" || values.left_out.count(name)) continue;
        const bool is_flag = o->get_items_expected_max() == 0;
        std::string value;
        if (const auto known = values.resolved.find(name); known != values.resolved.end())
            value = known->second;
        else if (o->count() > 0)
            for (const std::string& r : o->results()) value += (value.empty() ? "" : " ") + r;
        else if (!is_flag && !values.only_if_given.count(name))
            value = o->get_default_str();
        if (value.empty() || value == "\"\"") continue;
        out += name + " = " + toml_value(value) + "\n";
    }
    return out;
}

}  // namespace fovea
