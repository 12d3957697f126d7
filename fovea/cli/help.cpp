#include "fovea/cli/help.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/cli/app.h"
#include "fovea/cli/help_man.h"
#include "fovea/cli/help_rows.h"
#include "fovea/cli/terminal/suggest.h"
#include "fovea/cli/terminal/terminal.h"
#include "fovea/tasks/task.h"

namespace fovea {
namespace {

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

std::string table(const std::vector<HelpRow>& rows, int width) {
    int left = 0;
    for (const HelpRow& row : rows)
        if (const int w = display_width(row.left); w <= 30) left = std::max(left, w);
    std::string out;
    for (const HelpRow& row : rows) {
        const int w = display_width(row.left);
        out += "  " + row.left;
        out += w > left ? "\n" + std::string(static_cast<std::size_t>(left) + 4, ' ')
                        : std::string(static_cast<std::size_t>(left - w) + 2, ' ');
        out += wrapped(row.right, left + 4, std::max(width, left + 24)) + "\n";
    }
    return out;
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
        std::vector<HelpRow> rows = option_rows(verb, true, true);
        for (HelpRow& row : option_rows(verb, false, true)) rows.push_back(std::move(row));
        if (!rows.empty()) {
            out += "\n| flag or argument | meaning |\n|---|---|\n";
            for (const HelpRow& row : rows)
                out += fmt::format("| `{}` | {} |\n", table_cell(row.left), table_cell(row.right));
        }
    }
    for (const CLI::App* sub : verb.get_subcommands([](const CLI::App*) { return true; }))
        if (sub->get_group() != hidden_group) markdown_of(*sub, out);
}

}  // namespace

std::string help_text(const CLI::App& verb, bool all, int width) {
    const bool top = verb.get_parent() == nullptr;
    std::string out = "usage: " + usage_line(verb) + "\n\n";
    out += wrapped(verb.get_description(), 0, width) + "\n";
    if (const auto lines = examples_of(verb); !lines.empty()) {
        out += "\nexamples:\n";
        for (const std::string& line : lines) out += "  " + line + "\n";
    }
    const auto section = [&](const char* title, const std::vector<HelpRow>& rows) {
        if (!rows.empty()) out += fmt::format("\n{}:\n", title) + table(rows, width);
    };
    section(top ? "verbs" : "objects", verb_rows(verb, all));
    section("arguments", option_rows(verb, true, all));
    if (top) section("flags of every verb", option_rows(verb, false, true));
    if (!top)
        for (const std::string& title : titles_of(verb))
            section(title.c_str(), option_rows(verb, false, all, title));
    if (!top && all) section("flags of every verb", option_rows(root_of(verb), false, true));
    if (top) {
        out += "\nfovea VERB --help says more about a verb";
        out += all ? ".\n" : "; fovea help all lists every verb.\n";
    } else if (!all) {
        out += "\n" + full_name(verb) + " --help-all lists every flag.\n";
    }
    return out;
}

namespace {

// What `fovea train` takes for a task and not for the first one, whose flags stand with the verb.
std::string task_markdown(const std::string& task, const CLI::App& app) {
    std::set<std::string> known;
    for (const HelpRow& row : option_rows(*app.get_subcommand("train"), false, true))
        known.insert(row.left + row.right);
    const std::unique_ptr<CLI::App> other = make_app({"train", "--task", task});
    std::string out =
        fmt::format("\n### fovea train --task {}\n\n| further flag | meaning |\n|---|---|\n", task);
    for (const HelpRow& row : option_rows(*other->get_subcommand("train"), false, true))
        if (!known.count(row.left + row.right))
            out += fmt::format("| `{}` | {} |\n", table_cell(row.left), table_cell(row.right));
    return out;
}

}  // namespace

std::string help_markdown(const CLI::App& app) {
    std::string out =
        "# The command line\n\n"
        "Made from the parser by `fovea help --markdown`; a test compares the two. Do not edit.\n\n"
        "    " +
        usage_line(app) + "\n\n| flag of every verb | meaning |\n|---|---|\n";
    for (const HelpRow& row : option_rows(app, false, true))
        out += fmt::format("| `{}` | {} |\n", table_cell(row.left), table_cell(row.right));
    markdown_of(app, out);
    const std::vector<std::string> names = trained_tasks();
    for (std::size_t i = 1; i < names.size(); ++i) out += task_markdown(names[i], app);
    return out;
}

void add_help_command(CLI::App& app) {
    struct Choice {
        std::vector<std::string> words;
        bool markdown = false, man = false;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* help = app.add_subcommand("help", "What fovea can do, or one verb in detail.");
    set_examples(*help, {"fovea help", "fovea help all", "fovea help bench"});
    help->group(more_group);
    help->add_option("VERB", choice->words, "a verb and its object, or `all`");
    help->add_flag("--markdown", choice->markdown, "every verb as Markdown")->group(more_group);
    help->add_flag("--man", choice->man, "every verb as a man page (groff)")
        ->group(more_group)
        ->excludes("--markdown");
    help->callback([&app, choice] {
        const int width = std::min(terminal_width(stdout), 110);
        if (choice->markdown || choice->man) {
            fmt::print("{}", choice->man ? help_man(app) : help_markdown(app));
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
