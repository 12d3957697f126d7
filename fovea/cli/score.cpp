#include "fovea/cli/score.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/cli/required_bound.h"
#include "fovea/cli/score_measure.h"

namespace fovea {
namespace {

struct ScoreFlags {
    ScoreRequest request;
    std::vector<std::string> require;
    std::string format = "text";
    bool rouge = false;
    std::int64_t resamples = 0;
};

// What --metric calls a metric, and the scores it gives by their names in the JSON answer;
// --require takes either (rouge is ROUGE-L).
struct MetricNames {
    const char* metric;
    std::vector<std::string> keys;
};
const std::vector<MetricNames>& metric_names() {
    static const std::vector<MetricNames> names{
        {"bleu", {"bleu"}},
        {"chrf", {"chrf2"}},
        {"chrf++", {"chrf2++"}},
        {"rouge", {"rougeL", "rouge1", "rouge2", "rougeLsum"}},
        {"exact", {"exact_match"}}};
    return names;
}

template <class... Parts>
[[noreturn]] void wrong_usage(std::string hint, const Parts&... parts) {
    fail_with(ErrorKind::usage, std::move(hint), "score: ", parts...);
}

RequiredBound bound_of(const ScoreRequest& q, const std::string& text) {
    std::vector<std::string> names;
    for (const MetricNames& m : metric_names()) {
        if (!q.measures(m.metric)) continue;
        names.push_back(m.metric);
        for (const std::string& key : m.keys)
            if (key != m.metric) names.push_back(key);
    }
    RequiredBound bound = required_bound("score", text, names);
    for (const MetricNames& m : metric_names())
        if (bound.name == m.metric) bound.name = m.keys[0];
    return bound;
}

void check_bounds(const ScoredSystem& system, const std::vector<RequiredBound>& bounds) {
    for (const RequiredBound& b : bounds)
        for (const ReportedScore& s : system.scores)
            if (s.key == b.name) expect_reached("score", b, s.score.value);
}

// Flags that contradict each other or would have no effect.
void check_flags(const ScoreFlags& f, const CLI::App& verb) {
    const ScoreRequest& q = f.request;
    if (!q.paired.empty() && q.systems.empty())
        wrong_usage("give the other system's lines with --system FILE",
                    "--paired compares systems, but there is only one");
    if (f.resamples > 0 && !q.confidence && q.systems.empty())
        wrong_usage("add --confidence, or a second system with --system FILE",
                    "--resamples has no effect without --confidence or --system");
    if (verb.count("--tokenize") > 0 && !q.measures("bleu"))
        wrong_usage("leave it out, or add bleu to --metric",
                    "--tokenize is for BLEU, which is not measured");
    if (q.stem && !q.measures("rouge"))
        wrong_usage("add --rouge", "--stem is for ROUGE, which is not measured");
    std::int64_t from_input = q.hypotheses == "-";
    for (const auto* files : {&q.references, &q.systems})
        from_input += std::count(files->begin(), files->end(), "-");
    if (from_input > 1)
        wrong_usage("write the others to files", "standard input can be only one of the files");
}

// What was left unsaid.
void complete(ScoreFlags& f, const CLI::App& verb) {
    ScoreRequest& q = f.request;
    if (q.metrics.empty()) q.metrics = {"bleu", "chrf", "exact"};
    if (f.rouge) q.metrics.push_back("rouge");
    std::vector<std::string> once;
    for (const std::string& m : q.metrics)
        if (std::count(once.begin(), once.end(), m) == 0) once.push_back(m);
    q.metrics = once;
    check_flags(f, verb);
    if (!q.systems.empty() && q.paired.empty()) q.paired = "randomization";
    if (f.resamples > 0) (q.paired == "randomization" ? q.trials : q.resamples) = f.resamples;
    // The seed that others use for this, unless one is given.
    if (verb.get_parent()->count("--seed") > 0) q.seed = global_options().seed;
}

void run_score(ScoreFlags& f, const CLI::App& verb) {
    complete(f, verb);
    std::vector<RequiredBound> bounds;
    for (const std::string& text : f.require) bounds.push_back(bound_of(f.request, text));
    const ScoreReport report = measure_files(f.request);
    if (!global_options().quiet) {
        if (report.tokenizer_fitted)
            fmt::print(stderr, "note: BLEU's tokenizer is {}, which fits the references\n",
                       report.tokenizer);
        if (report.looks_tokenized)
            fmt::print(stderr,
                       "note: many lines of {} end in \" .\" and look tokenised: BLEU is "
                       "comparable only for plain text\n",
                       report.systems[0].file);
    }
    fmt::print("{}", f.format == "json" ? to_text(report.json()) + "\n" : report.text());
    check_bounds(report.systems[0], bounds);
}

}  // namespace

void add_score_command(CLI::App& app) {
    CLI::App* v = app.add_subcommand("score", "Measure lines of text against references.");
    auto f = std::make_shared<ScoreFlags>();
    ScoreRequest& q = f->request;
    v->add_option("HYP", q.hypotheses,
                  "what a system produced, one text per line (.gz allowed; - is input)")
        ->required();
    v->add_option("REF", q.references, "what is right, line by line; several files: any is right")
        ->required();
    v->add_option("--metric", q.metrics, "what to measure, commas between [bleu,chrf,exact]")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"bleu", "chrf", "chrf++", "rouge", "exact"}))
        ->type_name("NAMES");
    v->add_flag("--rouge", f->rouge, "ROUGE too");
    v->add_option("--tokenize", q.tokenize, "words of BLEU; auto: what fits the references")
        ->check(CLI::IsMember({"auto", "13a", "zh", "char", "intl", "none"}));
    v->add_flag("--confidence", q.confidence,
                "95 % intervals by bootstrap (1000 resamples, seed 12345 unless --seed is given)");
    v->add_option("--system", q.systems, "lines of a further system, tested against HYP")
        ->allow_extra_args(false)
        ->type_name("FILE");
    v->add_option("--paired", q.paired, "the test of --system: randomization unless given")
        ->check(CLI::IsMember({"bootstrap", "randomization"}));
    add_format_options(*v, f->format, {"text", "json"});
    v->add_option("--require", f->require, "NAME=VALUE: exit with 5 where HYP's score is lower")
        ->allow_extra_args(false)
        ->type_name("BOUND");
    v->add_flag("--lowercase", q.lowercase, "BLEU and chrF of lower-cased text")->group(more_group);
    v->add_flag("--stem", q.stem, "ROUGE of Porter's stems")->group(more_group);
    v->add_option("--resamples", f->resamples,
                  "of --confidence and --system; 0: 1000, randomization 10000")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1000000}))
        ->type_name("N")
        ->group(more_group);
    set_examples(*v, {"fovea score out.txt ref.txt",
                      "fovea translate run/model < test.en | fovea score - test.de --confidence",
                      "fovea score old.txt ref.txt --system new.txt --json",
                      "fovea score out.txt ref1.txt ref2.txt --rouge --require bleu=30"});
    v->callback([f, v] { run_score(*f, *v); });
}

}  // namespace fovea
