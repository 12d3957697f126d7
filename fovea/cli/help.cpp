#include "fovea/cli/help.h"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>

#include "fovea/base/error.h"
#include "fovea/cli/terminal/suggest.h"
#include "fovea/cli/terminal/terminal.h"

namespace fovea {
namespace {

struct Row {
    std::string left, right;
};

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// Words of `text` on lines of at most `width` columns; every line but the first is indented.
std::string wrapped(const std::string& text, int indent, int width) {
    std::istringstream in(text);
    std::string out, word;
    int column = indent;
    while (in >> word) {
        const int size = display_width(word);
        if (column > indent && column + 1 + size > width) {
            out += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
            column = indent;
        }
        if (column > indent) out += ' ', ++column;
        out += word;
        column += size;
    }
    return out;
}

std::string table(const std::vector<Row>& rows, int width) {
    int left = 0;
    for (const Row& row : rows)
        if (const int w = display_width(row.left); w <= 30) left = std::max(left, w);
    std::string out;
    for (const Row& row : rows) {
        const int w = display_width(row.left);
        out += "  " + row.left;
        out += w > left ? "\n" + std::string(static_cast<std::size_t>(left) + 4, ' ')
                        : std::string(static_cast<std::size_t>(left - w) + 2, ' ');
        out += wrapped(row.right, left + 4, std::max(width, left + 24)) + "\n";
    }
    return out;
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

// Sub-verbs, by group: the common ones, or all.
std::vector<Row> verb_rows(const CLI::App& app, bool all) {
    std::vector<Row> rows;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (sub->get_group() == hidden_group || (!all && sub->get_group() == more_group)) continue;
        rows.push_back({sub->get_name(), lines_of(sub->get_description() + "\n").front()});
    }
    return rows;
}

std::vector<Row> option_rows(const CLI::App& verb, bool positional, bool all) {
    std::vector<Row> rows;
    for (const CLI::Option* option : verb.get_options()) {
        if (option->get_positional() != positional || option->get_group() == hidden_group) continue;
        if (is_help_flag(*option)) continue;
        if (!all && (option->get_group() == more_group || option->get_group() == "Global"))
            continue;
        rows.push_back({spelling(*option), explanation(*option)});
    }
    return rows;
}

const CLI::App& root_of(const CLI::App& verb) {
    const CLI::App* root = &verb;
    while (root->get_parent()) root = root->get_parent();
    return *root;
}

std::string table_cell(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

void markdown_of(const CLI::App& verb, std::string& out) {
    if (verb.get_parent()) {
        out += fmt::format("\n## {}\n\n{}\n\n    {}\n", full_name(verb), verb.get_description(),
                           usage_line(verb));
        if (const auto lines = examples_of(verb); !lines.empty()) {
            out += "\nExamples:\n\n";
            for (const std::string& line : lines) out += "    " + line + "\n";
        }
        std::vector<Row> rows = option_rows(verb, true, true);
        for (Row& row : option_rows(verb, false, true)) rows.push_back(std::move(row));
        if (!rows.empty()) {
            out += "\n| flag or argument | meaning |\n|---|---|\n";
            for (const Row& row : rows)
                out += fmt::format("| `{}` | {} |\n", table_cell(row.left), table_cell(row.right));
        }
    }
    for (const CLI::App* sub : verb.get_subcommands([](const CLI::App*) { return true; }))
        if (sub->get_group() != hidden_group) markdown_of(*sub, out);
}

}  // namespace

void set_examples(CLI::App& verb, std::initializer_list<const char*> lines) {
    std::string text;
    for (const char* line : lines) text += std::string(line) + "\n";
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

std::string help_text(const CLI::App& verb, bool all, int width) {
    const bool top = verb.get_parent() == nullptr;
    std::string out = "usage: " + usage_line(verb) + "\n\n";
    out += wrapped(verb.get_description(), 0, width) + "\n";
    if (const auto lines = examples_of(verb); !lines.empty()) {
        out += "\nexamples:\n";
        for (const std::string& line : lines) out += "  " + line + "\n";
    }
    const auto section = [&](const char* title, const std::vector<Row>& rows) {
        if (!rows.empty()) out += fmt::format("\n{}:\n", title) + table(rows, width);
    };
    section(top ? "verbs" : "objects", verb_rows(verb, all));
    section("arguments", option_rows(verb, true, all));
    section(top ? "flags of every verb" : "flags", option_rows(verb, false, all || top));
    if (!top && all) section("flags of every verb", option_rows(root_of(verb), false, true));
    if (top) {
        out += "\nfovea VERB --help says more about a verb";
        out += all ? ".\n" : "; fovea help all lists every verb.\n";
    } else if (!all) {
        out += "\n" + full_name(verb) + " --help-all lists every flag.\n";
    }
    return out;
}

std::string help_markdown(const CLI::App& app) {
    std::string out =
        "# The command line\n\n"
        "Made from the parser by `fovea help --markdown`; a test compares the two. Do not edit.\n\n"
        "    " +
        usage_line(app) + "\n\n| flag of every verb | meaning |\n|---|---|\n";
    for (const Row& row : option_rows(app, false, true))
        out += fmt::format("| `{}` | {} |\n", table_cell(row.left), table_cell(row.right));
    markdown_of(app, out);
    return out;
}

void add_help_command(CLI::App& app) {
    struct Choice {
        std::vector<std::string> words;
        bool markdown = false;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* help = app.add_subcommand("help", "What fovea can do, or one verb in detail.");
    set_examples(*help, {"fovea help", "fovea help all", "fovea help bench"});
    help->group(more_group);
    help->add_option("VERB", choice->words, "a verb and its object, or `all`");
    help->add_flag("--markdown", choice->markdown, "every verb as Markdown")->group(more_group);
    help->callback([&app, choice] {
        const int width = std::min(terminal_width(stdout), 110);
        if (choice->markdown) {
            fmt::print("{}", help_markdown(app));
            return;
        }
        const CLI::App* verb = &app;
        const bool all = choice->words == std::vector<std::string>{"all"};
        if (!all) {
            for (const std::string& word : choice->words) {
                std::vector<std::string> known;
                const CLI::App* found = nullptr;
                for (const CLI::App* sub :
                     verb->get_subcommands([](const CLI::App*) { return true; })) {
                    if (sub->get_name() == word) found = sub;
                    if (sub->get_group() != hidden_group) known.push_back(sub->get_name());
                }
                if (!found) {
                    const std::string guess = nearest_word(word, known);
                    fail_with(ErrorKind::usage,
                              guess.empty() ? "fovea help all lists every verb"
                                            : "did you mean `" + guess + "`?",
                              "no verb `", word, "` for `", full_name(*verb), "`");
                }
                verb = found;
            }
        }
        fmt::print("{}", help_text(*verb, all, width));
    });
}

}  // namespace fovea
