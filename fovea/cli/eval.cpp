#include "fovea/cli/eval.h"

#include <fmt/core.h>

#include <memory>
#include <optional>

#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/model_flags.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/cli/required_bound.h"
#include "fovea/cli/terminal/progress.h"

namespace fovea {
namespace {

struct EvalVerb {
    std::unique_ptr<ModelFlags> model;
    std::vector<std::string> tests;
    std::string format = "text", outputs, require;
    std::int64_t limit = 0, skip_bad = 0;
};

void print_report(const EvalReport& r, const EvalVerb& v) {
    const MetricScore& s = r.score;
    if (v.format == "json") {
        Json j{{"schema", "fovea.eval"}, {"version", 1},         {"task", v.model->task()},
               {"metric", s.name},       {"value", s.value},     {"signature", s.signature},
               {"records", r.records},   {"seconds", r.seconds}, {"tokens", r.tokens},
               {"figures", s.figures},   {"how", r.how}};
        fmt::print("{}\n", to_text(j));
        return;
    }
    fmt::print("{}{}{} = {:.2f}\n", s.name, s.signature.empty() ? "" : "|", s.signature, s.value);
    for (const auto& [name, value] : s.figures.items())
        if (value.is_number()) fmt::print("  {:<14} {:.2f}\n", name, value.get<double>());
    std::string how;
    for (const auto& [name, value] : r.how.items())
        how += fmt::format("{}{} {}", how.empty() ? "" : ", ", name,
                           value.is_string() ? value.get<std::string>() : value.dump());
    if (!how.empty()) fmt::print("  {}\n", how);
    fmt::print("{}", r.details);
    fmt::print("  {} records{} in {}\n", r.records,
               r.tokens > 0 ? fmt::format(", {} tokens", r.tokens) : "", duration_text(r.seconds));
}

void run_eval(EvalVerb& v) {
    const Predictor& predictor = v.model->open();
    std::optional<RequiredBound> bound;
    if (!v.require.empty()) bound = required_bound("eval", v.require, predictor.figure_names());
    RecordFiles files;
    files.paths = v.tests;
    files.limit = v.limit;
    files.skip_bad = v.skip_bad;
    const ProgressOptions shown{.quiet = global_options().quiet};
    std::optional<Progress> progress;  // once the task has read its records, and knows how many
    PredictControl control;
    control.progress = [&](std::int64_t done, std::int64_t total) {
        if (!progress) progress.emplace("eval", total, "records", shown);
        progress->update(done);
    };
    control.say = [&](const std::string& note) { Progress("", 0, "", shown).say(note); };
    const EvalReport report = predictor.evaluate(files, control);
    if (progress) progress->finish();
    if (!v.outputs.empty()) {
        std::string text;
        for (const std::string& o : report.outputs) text += o + "\n";
        write_file_atomically(v.outputs, text);
    }
    print_report(report, v);
    if (bound) expect_reached("eval", *bound, report.score.figures.at(bound->name));
}

}  // namespace

void add_eval_command(CLI::App& app, const std::string& task) {
    CLI::App* v = app.add_subcommand("eval", "Measure a model on a test file.");
    auto verb = std::make_shared<EvalVerb>();
    verb->model = std::make_unique<ModelFlags>(*v, task);
    v->add_option("FILES,--test", verb->tests,
                  "records: .tsv, .csv, .jsonl (.gz), a.txt,b.txt, -; texts for language models")
        ->required();
    add_format_options(*v, verb->format, {"text", "json"});
    v->add_option("--outputs", verb->outputs, "write what the model answered to this file");
    v->add_option("--require", verb->require, "NAME=VALUE: exit with 5 where the figure is worse");
    v->add_option("--limit", verb->limit, "only the first so many records; 0: all")
        ->check(at_least(0))
        ->group(more_group);
    v->add_option("--skip-bad", verb->skip_bad, "bad lines to pass over")
        ->check(at_least(0))
        ->group(more_group);
    set_examples(
        *v, {"fovea eval run/model --test test.tsv", "fovea eval run/model --test test.tsv --json",
             "fovea eval run/model --test test.tsv --require accuracy=90"});
    v->callback([verb] { run_eval(*verb); });
}

}  // namespace fovea
