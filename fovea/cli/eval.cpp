#include "fovea/cli/eval.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/model_flags.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/cli/search_flags.h"
#include "fovea/cli/terminal/progress.h"
#include "fovea/tasks/average.h"
#include "fovea/tasks/seq2seq_train.h"

namespace fovea {
namespace {

struct EvalFlags {
    ModelFlags model;
    std::string test, format = "text", outputs, require;
    PairFiles files;
    SearchFlags search;
};

// --require bleu=30: exit code 5 where the figure is lower.
void check_bound(const Json& figures, const std::string& bound) {
    const std::size_t equals = bound.find('=');
    const std::string name = bound.substr(0, equals);
    if (equals == std::string::npos || !figures.contains(name) || !figures[name].is_number())
        throw Error("eval: cannot check --require " + bound, ErrorKind::usage,
                    "write NAME=VALUE with a name of the figures, e.g. bleu=30");
    const double want = std::strtod(bound.c_str() + equals + 1, nullptr), got = figures[name];
    if (got < want)
        throw Error(fmt::format("eval: {} is {:.2f}, below the required {:.2f}", name, got, want),
                    ErrorKind::missed);
}

void run_eval(EvalFlags& f) {
    const std::vector<Seq2SeqModel> models = f.model.load("");
    std::vector<const Seq2SeqModel*> pointers;
    for (const Seq2SeqModel& m : models) pointers.push_back(&m);
    const PairFiles named = pair_files_of(f.test);
    f.files.path = named.path;
    f.files.target_path = named.target_path;
    Problems problems;
    const std::vector<TextPair> pairs = read_pairs(f.files, &problems);
    if (!global_options().quiet)
        for (const std::string& note : problems.notes) fmt::print(stderr, "{}\n", note);
    Progress progress("eval", static_cast<std::int64_t>(pairs.size()), "texts",
                      {.quiet = global_options().quiet});
    const Seq2SeqScore s =
        evaluate_pairs(pointers, pairs, f.search.over(models[0].search),
                       [&](std::int64_t done, std::int64_t) { progress.update(done); });
    progress.finish();
    if (!f.outputs.empty()) {
        std::string text;
        for (const std::string& o : s.outputs) text += o + "\n";
        write_file_atomically(f.outputs, text);
    }
    if (f.format == "json") {
        Json j{{"schema", "fovea.eval"}, {"version", 1},         {"task", models[0].task},
               {"metric", s.name},       {"value", s.value},     {"signature", s.signature},
               {"pairs", pairs.size()},  {"seconds", s.seconds}, {"tokens", s.tokens}};
        j["figures"] = s.figures;
        fmt::print("{}\n", to_text(j));
    } else {
        fmt::print("{}|{} = {:.2f}\n", s.name, s.signature, s.value);
        for (const auto& [name, value] : s.figures.items())
            if (value.is_number()) fmt::print("  {:<14} {:.2f}\n", name, value.get<double>());
        fmt::print("  {} texts, {} tokens in {}\n", pairs.size(), s.tokens,
                   duration_text(s.seconds));
    }
    if (!f.require.empty()) check_bound(s.figures, f.require);
}

struct AverageFlags {
    std::string run, out;
    int last = 10;
    bool force = false;
};

}  // namespace

void add_eval_command(CLI::App& app) {
    CLI::App* v = app.add_subcommand("eval", "Measure a model on a test file.");
    auto f = std::make_shared<EvalFlags>();
    f->model.add_to(*v);
    v->add_option("--test", f->test, "pairs: .tsv, .csv, .jsonl (.gz), or a.txt,b.txt")->required();
    add_format_options(*v, f->format, {"text", "json"});
    v->add_option("--outputs", f->outputs, "write what the model produced to this file");
    v->add_option("--require", f->require, "NAME=VALUE: exit with 5 where the figure is lower");
    v->add_flag("--reverse", f->files.reverse, "swap source and target of the file")
        ->group(more_group);
    v->add_option("--source-key", f->files.source_key, "column or JSON key of the source")
        ->group(more_group);
    v->add_option("--target-key", f->files.target_key, "column or JSON key of the target")
        ->group(more_group);
    v->add_option("--limit", f->files.limit, "only the first N pairs; 0: all")
        ->check(CLI::NonNegativeNumber)
        ->group(more_group);
    f->search.add_to(*v);
    set_examples(
        *v, {"fovea eval run/model --test test.tsv", "fovea eval run/model --test test.tsv --json",
             "fovea eval run/model --test test.tsv --beam 5 --require bleu=30"});
    v->callback([f] { run_eval(*f); });
}

void add_average_command(CLI::App& app) {
    CLI::App* v =
        app.add_subcommand("average", "Average the last checkpoints of a run into one model.");
    auto f = std::make_shared<AverageFlags>();
    v->add_option("RUN", f->run, "the run's folder")->required();
    v->add_option("--last", f->last, "checkpoints to take")->check(at_least(1));
    v->add_option("--out", f->out, "the new model's folder")->required();
    v->add_flag("--force", f->force, "overwrite it");
    set_examples(*v, {"fovea average run --last 10 --out run/averaged",
                      "fovea eval run/averaged --test test.tsv",
                      "fovea average run --last 5 --out best --force"});
    v->callback([f] {
        const std::vector<std::string> used =
            average_checkpoints(f->run, f->last, f->out, f->force);
        if (!global_options().quiet && static_cast<int>(used.size()) < f->last)
            fmt::print(stderr, "note: --last {}, but the run holds only {} checkpoints\n", f->last,
                       used.size());
        if (!global_options().quiet)
            fmt::print(stderr, "averaged {} checkpoints ({} … {}) into {}\n", used.size(),
                       used.front(), used.back(), f->out);
    });
}

}  // namespace fovea
