#include "fovea/cli/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/processor_time.h"
#include "fovea/cli/compare_maps.h"
#include "fovea/cli/compare_plan.h"
#include "fovea/cli/compare_report.h"
#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/data/test_slices.h"
#include "fovea/io/checkpoint_folder.h"

namespace fovea {
namespace {

struct CompareVerb {
    std::string recipe, out;
    bool force = false;
};

void note(const std::string& line) {
    if (!global_options().quiet) fmt::print(stderr, "{}\n", line);
}

// Steps and scores of the dev set, from the run's own log; of a run without one the loss in
// training, as means over a fiftieth of the updates.
Json curve_of(const std::string& run, std::string& metric) {
    Json curve = Json::array();
    std::vector<std::pair<std::int64_t, double>> losses;
    LineReader lines(join_path(run, "metrics.jsonl"));
    for (std::string line; lines.next(line);) {
        const Json j = parse_json(line, run);
        if (j.contains("eval")) {
            metric = j["eval"].get<std::string>();
            curve.push_back({j["step"], j["value"]});
        } else if (j.contains("loss") && j["loss"].is_number()) {
            losses.emplace_back(j["step"].get<std::int64_t>(), j["loss"].get<double>());
        }
    }
    if (!curve.empty()) return curve;
    metric = "loss in training";
    const std::size_t each = std::max<std::size_t>(1, losses.size() / 50);
    for (std::size_t i = 0; i + each <= losses.size(); i += each) {
        double sum = 0;
        for (std::size_t k = i; k < i + each; ++k) sum += losses[k].second;
        curve.push_back({losses[i + each - 1].first, sum / static_cast<double>(each)});
    }
    return curve;
}

std::unique_ptr<Predictor> opened(const ComparePlan& plan, const PlannedModel& model,
                                  const std::string& folder) {
    std::vector<ModelFolder> folders{ModelFolder::open(folder)};
    const TaskEntry* entry = find_task(folders[0].task);
    expect_input(entry && entry->predictor, folder, ": nothing says what the model is for");
    auto predictor = predictor_with(*entry, plan, model);
    predictor->open(folders, {});
    return predictor;
}

EvalReport measured(const Predictor& predictor, const std::string& path, std::int64_t limit = 0) {
    RecordFiles files;
    files.paths = {path};
    files.limit = limit;
    return predictor.evaluate(files, {});
}

double score_of(const EvalReport& report, const std::string& figure) {
    return figure.empty() ? report.score.value : report.score.figures.at(figure).get<double>();
}

void check_figure(const Predictor& predictor, const std::string& figure) {
    const std::vector<std::string> names = predictor.figure_names();
    if (figure.empty() || std::find(names.begin(), names.end(), figure) != names.end()) return;
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    throw Error("compare: there is no figure `" + figure + "`", ErrorKind::usage, "one of " + all);
}

// Milliseconds for one record alone: the median of a few. Null where a text is measured whole.
Json latency_of(const Predictor& predictor, const std::string& test) {
    std::vector<double> seconds;
    try {
        for (int i = 0; i < 5; ++i) seconds.push_back(measured(predictor, test, 1).seconds);
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::usage) throw;
        return nullptr;
    }
    std::sort(seconds.begin(), seconds.end());
    return 1e3 * seconds[2];
}

class Comparing {
public:
    Comparing(ComparePlan plan, std::string out) : plan_(std::move(plan)), out_(std::move(out)) {
        slices_ = slice_test_file(plan_.test, join_path(out_, "test"));
        result_.task = plan_.task->name;
        result_.test = base_name(plan_.test);
        result_.columns = plan_.columns;
        for (const std::string& path : plan_.also_test)
            result_.also_test.push_back(base_name(path));
        for (const auto& [key, value] : plan_.shared) result_.settings[key] = value;
    }

    Comparison run() {
        for (const PlannedModel& planned : plan_.models) {
            ComparedModel model{planned.name, {}, {}};
            for (std::int64_t seed = 1; seed <= planned.seeds; ++seed)
                model.runs.push_back(one_run(planned, seed));
            const auto predictor = opened(plan_, planned, weights_of(planned, 1));
            model.maps = map_figures(*predictor, planned.name, plan_.inputs, plan_.map);
            result_.models.push_back(std::move(model));
            write();
        }
        return std::move(result_);
    }

private:
    std::string folder_of(const std::string& name, std::int64_t seed) const {
        return join_path(join_path(out_, name), fmt::format("seed-{}", seed));
    }

    std::string told_of(const std::string& name, std::int64_t seed) const {
        return join_path(folder_of(name, seed), "compare.json");
    }

    std::string weights_of(const PlannedModel& m, std::int64_t seed) const {
        return join_path(folder_of(m.trained.empty() ? m.name : m.trained, seed), "model");
    }

    void write() const {
        write_file_atomically(join_path(out_, "compare.md"), result_.markdown());
        write_file_atomically(join_path(out_, "compare.json"), result_.json());
        write_file_atomically(join_path(out_, "compare.html"), result_.html());
    }

    // Trained, or gone on with, or known from before; measured, or known.
    Json one_run(const PlannedModel& model, std::int64_t seed) {
        Json figures = known_run(model, seed);
        if (figures.is_null()) {
            note(fmt::format("{}, seed {}", model.name, seed));
            figures = trained_run(model, seed);
        }
        if (figures.value("measured", Json()) != plan_.measuring_of(model)) {
            measure(figures, model, seed);
            make_folders(folder_of(model.name, seed));
            write_file_atomically(told_of(model.name, seed), to_text(figures) + "\n");
        }
        result_.metric = figures.at("metric").get<std::string>();
        result_.dev_metric = figures.at("dev_metric").get<std::string>();
        result_.higher_is_better = figures.at("higher_is_better").get<bool>();
        note(fmt::format("{}, seed {}: {} {:.2f}", model.name, seed, result_.metric,
                         figures.at("score").get<double>()));
        return figures;
    }

    // Figures of a run that ended before; null: there is none. A recipe that has changed since must
    // not be answered with the old one's figures.
    Json known_run(const PlannedModel& model, std::int64_t seed) const {
        const std::string told = told_of(model.name, seed);
        if (!file_exists(told)) return {};
        Json figures = read_json(told);
        const Json now = plan_.training_of(model), before = figures.value("trained", now);
        if (before == now) return figures;
        std::string changed;
        for (const Json* side : {&before, &now})
            for (const auto& [key, value] : side->items())
                if (changed.empty() && before.value(key, "") != now.value(key, ""))
                    changed = fmt::format("{} was `{}` and is `{}`", key, before.value(key, ""),
                                          now.value(key, ""));
        throw Error(folder_of(model.name, seed) + " was trained by another recipe: " + changed,
                    ErrorKind::bad_input,
                    "remove that folder to train it again, or --force, or another --out");
    }

    // What is known of training; a row that is not trained takes it from the one that is.
    Json trained_run(const PlannedModel& model, std::int64_t seed) const {
        if (model.trained.empty()) return train_one(model, seed);
        Json figures = read_json(told_of(model.trained, seed));
        figures.erase("measured");
        return figures;
    }

    Json train_one(const PlannedModel& model, std::int64_t seed) const {
        const std::string folder = folder_of(model.name, seed);
        const auto verb = plan_.verb_of(model);
        verb->run.options.seed = static_cast<std::uint64_t>(seed);
        verb->run.options.out = folder;
        verb->run.options.resume = holds_run(folder);
        const double start = processor_seconds();
        const TrainRun run = run_with_live_line(*verb);
        Json figures{{"seed", seed},
                     {"trained", plan_.training_of(model)},
                     {"parameters", run.summary.parameters},
                     {"updates", run.result.step},
                     {"train_seconds", run.result.seconds},
                     {"tokens_per_second",
                      static_cast<double>(run.result.tokens) / std::max(1e-9, run.result.seconds)},
                     {"memory", run.memory > 0 ? Json(run.memory) : Json()}};
        // Of a run in several sittings only the last is known.
        if (!verb->run.options.resume) figures["processor_seconds"] = processor_seconds() - start;
        return figures;
    }

    void measure(Json& figures, const PlannedModel& model, std::int64_t seed) const {
        const auto predictor = opened(plan_, model, weights_of(model, seed));
        check_figure(*predictor, plan_.figure);
        const double start = processor_seconds();
        const EvalReport whole = measured(*predictor, plan_.test);
        figures["test_processor_seconds"] = processor_seconds() - start;
        const auto score = [&](const std::string& path) {
            return score_of(measured(*predictor, path), plan_.figure);
        };
        figures["metric"] = plan_.figure.empty() ? whole.score.name : plan_.figure;
        figures["signature"] = whole.score.signature;
        figures["higher_is_better"] = whole.score.higher_is_better;
        figures["score"] = score_of(whole, plan_.figure);
        figures["figures"] = whole.score.figures;
        figures["how"] = whole.how;
        const double seconds = std::max(1e-9, whole.seconds);
        figures["records_per_second"] = static_cast<double>(whole.records) / seconds;
        if (whole.tokens > 0)
            figures["test_tokens_per_second"] = static_cast<double>(whole.tokens) / seconds;
        figures["latency_ms"] = latency_of(*predictor, plan_.test);
        figures["also_test"] = Json::object();
        for (const std::string& path : plan_.also_test)
            figures["also_test"][base_name(path)] = score(path);
        figures["by_length"] = Json::object();
        for (const TestSlice& s : slices_.by_length) figures["by_length"][s.name] = score(s.path);
        figures["parts"] = Json::array();
        if (model.seeds == 1)  // of several the seeds say how far it scatters
            for (const TestSlice& s : slices_.parts) figures["parts"].push_back(score(s.path));
        for (const TestSlice& s : slices_.noisy) figures["noisy"] = score(s.path);
        std::string dev_metric = "dev score";
        figures["curve"] = curve_of(
            folder_of(model.trained.empty() ? model.name : model.trained, seed), dev_metric);
        figures["dev_metric"] = dev_metric;
        figures["measured"] = plan_.measuring_of(model);
    }

    ComparePlan plan_;
    std::string out_;
    TestSlices slices_;
    Comparison result_;
};

void run_compare(const CompareVerb& v) {
    ComparePlan plan = read_compare_plan(v.recipe);
    const std::string out =
        v.out.empty() ? join_path("runs", std::filesystem::path(v.recipe).stem().string()) : v.out;
    if (v.force) std::filesystem::remove_all(out);
    make_folders(out);
    const Comparison result = Comparing(std::move(plan), out).run();
    fmt::print("{}", result.markdown());
    note(fmt::format("written: {0}/compare.md, {0}/compare.json, {0}/compare.html", out));
}

}  // namespace

void add_compare_command(CLI::App& app) {
    CLI::App* v =
        app.add_subcommand("compare", "Train several models on the same data and write one table.");
    auto verb = std::make_shared<CompareVerb>();
    v->add_option("RECIPE", verb->recipe,
                  "TOML: train, test, seeds and settings under [compare], each model as [[model]]")
        ->required();
    v->add_option("--out", verb->out, "folder of runs and tables [runs/RECIPE]");
    v->add_flag("--force", verb->force, "remove an old comparison in OUT first");
    set_examples(*v, {"fovea compare recipes/compare-reversal.toml",
                      "fovea compare recipe.toml --out runs/mine   # again: goes on where it was",
                      "fovea compare recipe.toml --out runs/mine --force"});
    v->group(more_group);
    v->callback([verb] { run_compare(*verb); });
}

}  // namespace fovea
