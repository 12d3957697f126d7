#include "fovea/cli/recipe.h"

#include <fmt/core.h>

#include <filesystem>
#include <map>

#include <sstream>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/terminal/suggest.h"
#include "fovea/data/records.h"

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
    if (!text.empty() && text[0] == '[') {
        const auto end = text.rfind(']');
        expect_input(end != std::string::npos, where, ": the list is never closed");
        return text.substr(0, end + 1);
    }
    return trimmed(text.substr(0, text.find('#')));
}

using Keys = std::vector<std::pair<std::string, std::string>>;

// A value of a table [[task]], with its type.
Json typed_value(const std::string& raw, const std::string& where) {
    const std::string text = value_of(raw, where);
    if (raw[0] == '"' || raw[0] == '\'') return text;
    try {
        return parse_json(text, where);
    } catch (const Error&) {
        throw Error(where + ": `" + text + "` is neither a number, true, false, a list nor a text",
                    ErrorKind::bad_input, "texts stand in quotes");
    }
}

// One line of a recipe; `current` is the section it stands in. A table of a list ([[task]]) becomes
// one value of the list setting `tasks`: a JSON object, which grows with its lines.
void take_line(std::string line, const std::string& where, const std::string& section,
               std::string& current, Keys& keys) {
    line = trimmed(line);
    if (line.empty() || line[0] == '#') return;
    if (line.starts_with("[[")) {
        line = trimmed(line.substr(0, line.find('#')));
        expect_input(line.ends_with("]]") && line.size() > 4, where,
                     ": a table of a list is written [[task]]");
        current = line;
        keys.emplace_back(trimmed(line.substr(2, line.size() - 4)) + "s", "{}");
        return;
    }
    if (line[0] == '[') {
        expect_input(line.back() == ']', where, ": a section is written [", section, "]");
        current = trimmed(line.substr(1, line.size() - 2));
        return;
    }
    const auto equals = line.find('=');
    expect_input(equals != std::string::npos, where, ": `key = value` is wanted");
    if (current.starts_with("[[")) {
        Json table = parse_json(keys.back().second, where);
        const std::string key = trimmed(line.substr(0, equals)),
                          raw = trimmed(line.substr(equals + 1));
        expect_input(!raw.empty(), where, ": `", key, "` has no value");
        expect_input(!table.contains(key), where, ": `", key, "` stands here for a second time");
        table[key] = typed_value(raw, where);
        keys.back().second = to_text(table);
    }
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

std::string absolute_path(const std::string& path) {
    if (path.empty() || path == "-" || path == "none" || path == "auto") return path;
    std::string out;
    for (const std::string& one : parallel_paths(path))  // "a.en,a.de" are two
        out +=
            (out.empty() ? "" : ",") + std::filesystem::absolute(one).lexically_normal().string();
    return out;
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

void apply_recipe(Settings& settings, const std::string& path, const std::string& section,
                  const std::set<std::string>& pass_over) {
    std::set<std::string> of_this_recipe;  // lists may be given by several tables
    for (const auto& [key, value] : read_recipe(path, section)) {
        Setting* s = settings.find(key);
        if (!s) {
            std::vector<std::string> known;
            for (const Setting& k : settings.all()) known.push_back(k.name);
            const std::string guess = nearest_word(key, known);
            throw Error(path + ": there is no setting `" + key + "` for `fovea " + section + "`",
                        ErrorKind::usage, guess.empty() ? "" : "did you mean `" + guess + "`?");
        }
        const bool again = s->is_list && of_this_recipe.count(s->name);
        if ((s->given && !again) || pass_over.count(s->name)) continue;  // the command line wins
        try {
            if (s->is_list && value.starts_with("[")) {
                for (const Json& v : parse_json(value, key)) s->set(v.get<std::string>());
            } else {
                s->set(value);
            }
            s->given = true;
            of_this_recipe.insert(s->name);
        } catch (const Error& e) {
            throw Error(path + ": " + e.what(), ErrorKind::usage, e.hint());
        }
    }
}

std::string recipe_text(const Settings& settings, const std::string& section) {
    std::string out = "[" + section + "]\n";
    for (const Setting& s : settings.all()) {
        const std::string text = s.text();
        if (!s.options.about_run || text.empty()) continue;
        out += s.name + " = ";
        if (!s.is_list) {
            out += toml_value(s.options.is_path ? absolute_path(text) : text) + "\n";
            continue;
        }
        Json all = Json::array();
        for (std::size_t from = 0; from <= text.size();) {
            const std::size_t end = std::min(text.find('\n', from), text.size());
            const std::string one = text.substr(from, end - from);
            all.push_back(s.options.is_path ? absolute_path(one) : one);
            from = end + 1;
        }
        out += to_text(all) + "\n";
    }
    return out;
}

std::string changed_settings(const std::string& old_path, const std::string& new_text) {
    std::map<std::string, std::string> before;
    for (auto& [key, value] : read_recipe(old_path, "train")) before[key] = value;
    std::string changes;
    for (const auto& [key, value] : parse_recipe(new_text, "train")) {
        const auto old = before.find(key);
        if (key == "planned-updates" || key == "planned-warmup" || key == "out") continue;
        if (old != before.end() && old->second == value) continue;
        changes += fmt::format("{}{} {} → {}", changes.empty() ? "" : ", ", key,
                               old == before.end() ? "unset" : old->second, value);
    }
    return changes;
}

}  // namespace fovea
