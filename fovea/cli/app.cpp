#include "fovea/cli/app.h"

#include <fmt/core.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <new>
#include <sstream>

#include "fovea/cli/average.h"
#include "fovea/cli/bench.h"
#include "fovea/cli/compare.h"
#include "fovea/cli/completion.h"
#include "fovea/cli/convert.h"
#include "fovea/cli/data.h"
#include "fovea/cli/demo.h"
#include "fovea/cli/doctor.h"
#include "fovea/cli/eval.h"
#include "fovea/cli/help.h"
#include "fovea/cli/inspect.h"
#include "fovea/cli/options.h"
#include "fovea/cli/predict.h"
#include "fovea/cli/score.h"
#include "fovea/cli/task_words.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/report.h"
#include "fovea/cli/terminal/suggest.h"
#include "fovea/cli/terminal/terminal.h"
#include "fovea/cli/tokenizer.h"
#include "fovea/cli/train.h"
#include "fovea/cli/verify.h"

namespace fovea {
namespace {

// The verb whose words were parsed last: where an unknown flag was meant for.
const CLI::App& deepest(const CLI::App& app) {
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    return parsed.empty() ? app : deepest(*parsed.back());
}

// Words of other toolkits for what is called otherwise here.
std::string known_elsewhere(const std::string& word) {
    static const std::map<std::string, std::string> ours = {
        {"--learning-rate", "--lr"},  {"--batch-size", "--max-tokens"},
        {"--output", "--out"},        {"-o", "--out"},
        {"--input", "--train"},       {"--num-epochs", "--epochs"},
        {"--model-dir", "--out"},     {"--max-steps", "--steps"},
        {"evaluate", "eval"},         {"test", "eval"},
        {"infer", "predict"},         {"fit", "train"},
        {"finetune", "train --from"}, {"version", "--version"}};
    const auto found = ours.find(word);
    return found == ours.end() ? "" : found->second;
}

std::string did_you_mean(const std::string& guess, const std::string& otherwise) {
    return guess.empty() ? otherwise : "did you mean `" + guess + "`?";
}

std::vector<std::string> shown_verbs(const CLI::App& verb) {
    std::vector<std::string> names;
    for (const CLI::App* sub : verb.get_subcommands([](const CLI::App*) { return true; }))
        if (sub->get_group() != hidden_group) names.push_back(sub->get_name());
    return names;
}

// A word the parser had no place for: an unknown verb, an unknown flag, or one argument too many.
ErrorReport unexpected_word(const CLI::App& app, const std::string& word) {
    const CLI::App& verb = deepest(app);
    const std::string name = full_name(verb);
    ErrorReport report{ErrorKind::usage, {}, {}};
    if (word.size() > 1 && word[0] == '-') {
        const std::string flag = word.substr(0, word.find('='));
        std::vector<std::string> known;
        for (const CLI::App* v = &verb; v; v = v->get_parent())
            for (const CLI::Option* option : v->get_options())
                for (const std::string& l : option->get_lnames()) known.push_back("--" + l);
        report.message = fmt::format("no flag `{}` for `{}`", flag, name);
        std::string guess = known_elsewhere(flag);
        if (std::find(known.begin(), known.end(), guess) == known.end())
            guess = nearest_word(flag, known);
        report.hint = did_you_mean(guess, name + " --help lists the flags");
        return report;
    }
    if (const std::vector<std::string> verbs = shown_verbs(verb); !verbs.empty()) {
        report.message = fmt::format("no verb `{}` for `{}`", word, name);
        report.hint = did_you_mean(
            known_elsewhere(word).empty() ? nearest_word(word, verbs) : known_elsewhere(word),
            verb.get_parent() ? name + " --help lists them" : "fovea help lists them");
    } else {
        report.message = fmt::format("`{}` is one argument too many for `{}`", word, name);
        report.hint = name + " --help shows what it takes";
    }
    return report;
}

ErrorReport usage_report(const CLI::App& app, const CLI::ParseError& error) {
    // A word without a place explains more than what it left unset ("FILE is required").
    const std::vector<std::string> rest = app.remaining(true);
    if (!rest.empty()) return unexpected_word(app, rest.front());
    const CLI::App& verb = deepest(app);
    const std::string name = full_name(verb);
    const bool something_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    if (const auto objects = shown_verbs(verb); something_missing && !objects.empty()) {
        std::string list;
        for (const std::string& o : objects) list += (list.empty() ? "`" : ", `") + o + "`";
        return {ErrorKind::usage, fmt::format("`{}` of what? It takes {}", name, list),
                fmt::format("{} --help says more", name)};
    }
    std::string message = error.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    // CLI11 says "--lr: At Most 1 required but received 2".
    if (const std::size_t twice = message.find(": At Most 1 required but received ");
        twice != std::string::npos)
        return {ErrorKind::usage,
                fmt::format("{}: {} is given {} times, but it takes one value", name,
                            message.substr(0, twice), message.substr(message.rfind(' ') + 1)),
                "leave only one of them"};
    std::string guess;
    // CLI11 says "--color: rde not in {auto,always,never}".
    if (const std::size_t set = message.find(" not in {"); set != std::string::npos) {
        const std::size_t before = message.rfind(' ', set - 1);
        std::vector<std::string> known;
        std::istringstream in(message.substr(set + 9, message.find('}') - set - 9));
        for (std::string word; std::getline(in, word, ',');) known.push_back(word);
        if (before != std::string::npos)
            guess = nearest_word(message.substr(before + 1, set - before - 1), known);
    }
    return {ErrorKind::usage, fmt::format("{}: {}", name, message),
            did_you_mean(guess, fmt::format("{} --help shows what it takes", name))};
}

// Everything that was meant for standard output is there, or this is an error (a full disk).
void flush_standard_output() {
    std::cout.flush();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) || !std::cout)
        fail("cannot write to standard output");
}

int report_and_code(const ErrorReport& report, bool json) {
    print_error(report, json);
    return static_cast<int>(report.kind);
}

int parse_and_run(CLI::App& app, int argc, char** argv, bool json) {
    try {
        app.parse(argc, argv);
        if (app.get_subcommands().empty())
            fmt::print("{}", help_text(app, false, std::min(terminal_width(stdout), 110)));
        flush_standard_output();
        return 0;
    } catch (const CLI::CallForHelp&) {
        // `fovea frobnicate --help`: help with a verb that is not there is no help.
        if (const auto rest = app.remaining(); app.get_subcommands().empty() && !rest.empty())
            return report_and_code(unexpected_word(app, rest.front()), json);
        fmt::print("{}", app.help());
    } catch (const CLI::CallForAllHelp&) {
        fmt::print("{}", app.help("", CLI::AppFormatMode::All));
    } catch (const CLI::CallForVersion& version) {
        fmt::print("{}\n", version.what());
    } catch (const CLI::ParseError& error) {
        return report_and_code(usage_report(app, error), json);
    }
    flush_standard_output();
    return 0;
}

}  // namespace

std::unique_ptr<CLI::App> make_app(const std::vector<std::string>& words) {
    auto app = std::make_unique<CLI::App>(
        "Attention models on ordinary CPUs: train, measure, use, look inside.", "fovea");
    app->option_defaults()->always_capture_default();
    app->set_help_flag("-h,--help", "this text");
    app->set_help_all_flag("--help-all", "every flag");
    app->set_version_flag("--version", std::string("fovea ") + FOVEA_VERSION, "version");
    app->formatter_fn([](const CLI::App* verb, std::string, CLI::AppFormatMode mode) {
        return help_text(*verb, mode == CLI::AppFormatMode::All,
                         std::min(terminal_width(stdout), 110));
    });
    app->require_subcommand(0, 1);  // so that a file called like a verb is no second verb
    app->fallthrough();             // global flags may follow the verb
    add_global_options(*app);
    app->parse_complete_callback([] { apply_global_options(); });

    // The verbs, in the order of the help.
    add_demo_command(*app);
    add_data_command(*app);
    const TaskOfWords task = task_of_words(words);
    add_train_command(*app, task);
    add_eval_command(*app, task.name);
    add_score_command(*app);
    add_compare_command(*app);
    add_predict_commands(*app, task.name);
    add_inspect_command(*app);
    add_average_command(*app);
    add_convert_command(*app);
    add_tokenizer_command(*app);
    add_bench_command(*app);
    add_doctor_command(*app);
    add_verify_command(*app);
    add_help_command(*app);
    add_completion_command(*app);
    return app;
}

int run_command_line(int argc, char** argv) {
    install_signal_handlers();
    const bool json = wants_json(argc, argv);
    try {
        const std::unique_ptr<CLI::App> app = make_app({argv + 1, argv + argc});
        return parse_and_run(*app, argc, argv, json);
    } catch (const Interrupted& stop) {
        return 128 + stop.signal;
    } catch (const Error& error) {
        return report_and_code({error.kind(), error.what(), error.hint()}, json);
    } catch (const std::bad_alloc&) {
        return report_and_code(
            {ErrorKind::failed, "out of memory",
             "a smaller batch or model needs less; fovea doctor shows the limit"},
            json);
    } catch (const std::exception& error) {
        return report_and_code({ErrorKind::failed, error.what(), {}}, json);
    }
}

}  // namespace fovea
