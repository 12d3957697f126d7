#include "fovea/cli/help_rows.h"

#include <algorithm>
#include <sstream>

#include "fovea/cli/help.h"

namespace fovea {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// "--threads N", "--color auto|always|never", "-q, --quiet", "FILE"
std::string spelling(const CLI::Option& option) {
    std::string value;
    if (option.get_items_expected_max() > 0) {
        if (const auto choices = choices_of(option); !choices.empty()) {
            for (const std::string& c : choices) value += (value.empty() ? "" : "|") + c;
        } else {
            const std::string type = option.get_type_name();
            value = type.substr(0, type.find_first_of(":["));
        }
    }
    if (option.get_positional()) return option.get_name(true, false);
    std::string name;
    for (const std::string& s : option.get_snames()) name += (name.empty() ? "-" : ", -") + s;
    for (const std::string& l : option.get_lnames()) name += (name.empty() ? "--" : ", --") + l;
    return value.empty() ? name : name + " " + value;
}

std::string explanation(const CLI::Option& option) {
    std::string text = option.get_description();
    const std::string preset = option.get_default_str();
    const bool is_flag = option.get_items_expected_max() == 0;
    if (!preset.empty() && !is_flag && preset != "\"\"" && preset != "[]")
        text += " [" + preset + "]";
    if (option.get_required()) text += " [required]";
    if (!option.get_envname().empty()) text += " (env " + option.get_envname() + ")";
    return text;
}

bool is_help_flag(const CLI::Option& option) {
    return option.check_lname("help") || option.check_lname("help-all");
}

bool is_on_demand(const std::string& group) {
    return group == "Global" || group.starts_with(more_group);
}

// "data flags" for the group "data" or "More: data"; plain "flags" for those without a title.
std::string title_of(const std::string& group) {
    const std::string prefix = more_group_of("");
    if (group.starts_with(prefix)) return group.substr(prefix.size()) + " flags";
    return group == "Options" || is_on_demand(group) ? "flags" : group + " flags";
}

}  // namespace

void set_examples(CLI::App& verb, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    verb.footer(text);
}

std::vector<std::string> examples_of(const CLI::App& verb) { return lines_of(verb.get_footer()); }

std::string full_name(const CLI::App& verb) {
    return verb.get_parent() ? full_name(*verb.get_parent()) + " " + verb.get_name()
                             : verb.get_name();
}

std::vector<std::string> choices_of(const CLI::Option& option) {
    // CLI11 keeps a set only as text in the type's name: "WHEN:{auto,always,never}".
    const std::string type = option.get_type_name();
    const std::size_t open = type.find('{'), close = type.find('}');
    std::vector<std::string> choices;
    if (open == std::string::npos || close == std::string::npos) return choices;
    std::istringstream in(type.substr(open + 1, close - open - 1));
    for (std::string word; std::getline(in, word, ',');) choices.push_back(word);
    return choices;
}

std::string usage_line(const CLI::App& verb) {
    std::string line = full_name(verb);
    if (!verb.get_subcommands([](const CLI::App*) { return true; }).empty())
        line += verb.get_parent() ? " OBJECT" : " VERB";
    for (const CLI::Option* option : verb.get_options()) {
        if (!option->get_positional()) continue;
        const std::string name = option->get_name(true, false);
        const bool many = option->get_items_expected_max() > 1;
        line += " " + (option->get_required() ? name : "[" + name + "]") + (many ? "..." : "");
    }
    return line + " [--flags]";
}

std::vector<HelpRow> verb_rows(const CLI::App& app, bool all) {
    std::vector<HelpRow> rows;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (sub->get_group() == hidden_group || (!all && sub->get_group() == more_group)) continue;
        rows.push_back({sub->get_name(), lines_of(sub->get_description() + "\n").front()});
    }
    return rows;
}

std::vector<HelpRow> option_rows(const CLI::App& verb, bool positional, bool all,
                                 const std::string& title) {
    std::vector<HelpRow> rows;
    for (const CLI::Option* option : verb.get_options()) {
        const std::string& group = option->get_group();
        if (option->get_positional() != positional || group == hidden_group) continue;
        if (is_help_flag(*option) || (!all && is_on_demand(group))) continue;
        if (!title.empty() && title_of(group) != title) continue;
        rows.push_back({spelling(*option), explanation(*option)});
    }
    return rows;
}

std::vector<std::string> titles_of(const CLI::App& verb) {
    std::vector<std::string> titles;
    for (const CLI::Option* option : verb.get_options()) {
        const std::string title = title_of(option->get_group());
        if (std::find(titles.begin(), titles.end(), title) == titles.end()) titles.push_back(title);
    }
    return titles;
}

}  // namespace fovea
