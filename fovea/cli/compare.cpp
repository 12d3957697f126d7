#include "fovea/cli/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/compare_maps.h"
#include "fovea/cli/compare_report.h"
#include "fovea/cli/help.h"
#include "fovea/cli/number_checks.h"
#include "fovea/cli/options.h"
#include "fovea/cli/recipe.h"
#include "fovea/cli/train_verb.h"
#include "fovea/data/record_shape.h"
#include "fovea/data/test_slices.h"
#include "fovea/io/checkpoint_folder.h"

namespace fovea {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

struct CompareVerb {
    std::string recipe, out;
    bool force = false;
};

// A recipe: settings of `fovea train` that all models share, what is the comparison's own, and the
// models with theirs.
struct ComparePlan {
    const TaskEntry* task = nullptr;
    std::string test, map, figure;  // figure: of the evaluation; "": the task's own metric
    std::int64_t seeds = 1;
    std::vector<std::string> inputs;  // whose attention is drawn
    Values shared;
    std::vector<std::pair<std::string, Values>> models;
};

std::string text_of_value(const Json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); }

std::pair<std::string, Values> model_of(const std::string& table, const std::string& path) {
    const Json j = parse_json(table, path);
    std::pair<std::string, Values> model;
    for (const auto& [key, value] : j.items()) {
        if (key == "name")
            model.first = text_of_value(value);
        else
            model.second.emplace_back(key, text_of_value(value));
    }
    if (model.first.empty())
        throw Error(path + ": a [[model]] has no name", ErrorKind::bad_input,
                    "name = \"transformer\"");
    if (model.first.find_first_of("/\\") != std::string::npos)
        throw Error(path + ": the name `" + model.first + "` cannot be a folder's",
                    ErrorKind::bad_input, "leave out the slash");
    return model;
}

void take_key(ComparePlan& plan, const std::string& key, const std::string& value,
              const std::string& path) {
    if (key == "models") {
        plan.models.push_back(model_of(value, path));
    } else if (key == "test") {
        plan.test = value;
    } else if (key == "figure") {
        plan.figure = value;
    } else if (key == "map") {
        plan.map = value;
    } else if (key == "inputs") {
        const Json list = parse_json(value, path);
        for (const Json& v : list) plan.inputs.push_back(v.get<std::string>());
    } else if (key == "seeds") {
        plan.seeds = std::atoll(value.c_str());
        expect_input(plan.seeds >= 1 && plan.seeds <= 100, path, ": seeds is ", value,
                     ", but may be from 1 to 100");
    } else if (key == "task") {
        plan.task = find_task(value);
        if (!plan.task || !plan.task->trainer)
            throw Error(path + ": there is no task `" + value + "` to train", ErrorKind::usage);
    } else {
        plan.shared.emplace_back(key, value);
    }
}

// A training run of one of the models: what all share, then its own.
std::unique_ptr<TrainVerb> verb_of(const ComparePlan& plan, const Values& own) {
    auto verb = new_train_verb(*plan.task);
    for (const auto& [key, value] : plan.shared) verb->settings.set(key, value);
    for (const auto& [key, value] : own) verb->settings.set(key, value);
    return verb;
}

// Wrong settings are told before the first run.
void check_models(const ComparePlan& plan, const std::string& path) {
    std::vector<std::string> names;
    for (const auto& [name, own] : plan.models) {
        if (std::find(names.begin(), names.end(), name) != names.end())
            throw Error(path + ": two models are called `" + name + "`", ErrorKind::bad_input);
        names.push_back(name);
        try {
            const auto verb = verb_of(plan, own);
            verb->trainer->check(verb->settings, verb->run);
        } catch (const Error& e) {
            throw Error(path + ": model `" + name + "`: " + e.what(), ErrorKind::usage, e.hint());
        }
    }
}

ComparePlan read_plan(const std::string& path) {
    ComparePlan plan;
    for (const auto& [key, value] : read_recipe(path, "compare")) take_key(plan, key, value, path);
    const auto train = std::find_if(plan.shared.begin(), plan.shared.end(),
                                    [](const auto& s) { return s.first == "train"; });
    if (train == plan.shared.end())
        throw Error(path + ": no training data", ErrorKind::bad_input, "train = \"pairs.tsv\"");
    if (plan.test.empty())
        throw Error(path + ": no test data", ErrorKind::bad_input, "test = \"test.tsv\"");
    if (plan.models.empty())
        throw Error(path + ": no models", ErrorKind::bad_input,
                    "each is a table: [[model]] with a name and its settings");
    if (!plan.task) {
        const auto guess = guess_shape(train->second);
        plan.task = guess ? task_for(guess->shape) : nullptr;
        if (!plan.task)
            throw Error(path + ": nothing says what is learnt", ErrorKind::bad_input,
                        "task = \"translate\"");
    }
    check_models(plan, path);
    return plan;
}

void note(const std::string& line) {
    if (!global_options().quiet) fmt::print(stderr, "{}\n", line);
}

// Steps and scores of the dev set, from the run's own log.
Json curve_of(const std::string& run, std::string& metric) {
    Json curve = Json::array();
    LineReader lines(join_path(run, "metrics.jsonl"));
    for (std::string line; lines.next(line);) {
        const Json j = parse_json(line, run);
        if (!j.contains("eval")) continue;
        metric = j["eval"].get<std::string>();
        curve.push_back({j["step"], j["value"]});
    }
    return curve;
}

std::unique_ptr<Predictor> opened(const std::string& folder) {
    std::vector<ModelFolder> folders{ModelFolder::open(folder)};
    const TaskEntry* entry = find_task(folders[0].task);
    expect_input(entry && entry->predictor, folder, ": nothing says what the model is for");
    auto predictor = entry->predictor();
    Settings settings;
    predictor->describe(settings);
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

// Seconds for one record alone: the median of a few.
double latency_of(const Predictor& predictor, const std::string& test) {
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) seconds.push_back(measured(predictor, test, 1).seconds);
    std::sort(seconds.begin(), seconds.end());
    return seconds[2];
}

class Comparing {
public:
    Comparing(ComparePlan plan, std::string out) : plan_(std::move(plan)), out_(std::move(out)) {
        slices_ = slice_test_file(plan_.test, join_path(out_, "test"));
        result_.task = plan_.task->name;
        result_.test = base_name(plan_.test);
        for (const auto& [key, value] : plan_.shared) result_.settings[key] = value;
    }

    Comparison run() {
        for (const auto& [name, own] : plan_.models) {
            ComparedModel model{name, {}, {}};
            for (std::int64_t seed = 1; seed <= plan_.seeds; ++seed)
                model.runs.push_back(one_run(name, own, seed));
            const auto predictor = opened(join_path(folder_of(name, 1), "model"));
            model.maps = map_figures(*predictor, name, plan_.inputs, plan_.map);
            result_.models.push_back(std::move(model));
            write();
        }
        return std::move(result_);
    }

private:
    std::string folder_of(const std::string& name, std::int64_t seed) const {
        return join_path(join_path(out_, name), fmt::format("seed-{}", seed));
    }

    void write() const {
        write_file_atomically(join_path(out_, "compare.md"), result_.markdown());
        write_file_atomically(join_path(out_, "compare.json"), result_.json());
        write_file_atomically(join_path(out_, "compare.html"), result_.html());
    }

    // Trained, or gone on with, or known from before.
    Json one_run(const std::string& name, const Values& own, std::int64_t seed) {
        const std::string folder = folder_of(name, seed);
        const std::string told = join_path(folder, "compare.json");
        Json figures;
        if (file_exists(told)) {
            figures = read_json(told);
        } else {
            note(fmt::format("{}, seed {}", name, seed));
            figures = train_one(own, seed, folder);
            measure(figures, folder);
            write_file_atomically(told, to_text(figures) + "\n");
        }
        result_.metric = figures.at("metric").get<std::string>();
        result_.dev_metric = figures.at("dev_metric").get<std::string>();
        result_.higher_is_better = figures.at("higher_is_better").get<bool>();
        note(fmt::format("{}, seed {}: {} {:.2f}", name, seed, result_.metric,
                         figures.at("score").get<double>()));
        return figures;
    }

    Json train_one(const Values& own, std::int64_t seed, const std::string& folder) const {
        const auto verb = verb_of(plan_, own);
        verb->run.options.seed = static_cast<std::uint64_t>(seed);
        verb->run.options.out = folder;
        verb->run.options.resume = holds_run(folder);
        const TrainRun run = run_with_live_line(*verb);
        return {{"seed", seed},
                {"parameters", run.summary.parameters},
                {"updates", run.result.step},
                {"train_seconds", run.result.seconds},
                {"tokens_per_second",
                 static_cast<double>(run.result.tokens) / std::max(1e-9, run.result.seconds)},
                {"memory", run.memory}};
    }

    void measure(Json& figures, const std::string& folder) const {
        const auto predictor = opened(join_path(folder, "model"));
        check_figure(*predictor, plan_.figure);
        const EvalReport whole = measured(*predictor, plan_.test);
        const auto score = [&](const std::string& path) {
            return score_of(measured(*predictor, path), plan_.figure);
        };
        figures["metric"] = plan_.figure.empty() ? whole.score.name : plan_.figure;
        figures["signature"] = whole.score.signature;
        figures["higher_is_better"] = whole.score.higher_is_better;
        figures["score"] = score_of(whole, plan_.figure);
        figures["figures"] = whole.score.figures;
        figures["records_per_second"] =
            static_cast<double>(whole.records) / std::max(1e-9, whole.seconds);
        figures["latency_ms"] = 1e3 * latency_of(*predictor, plan_.test);
        figures["by_length"] = Json::object();
        for (const TestSlice& s : slices_.by_length) figures["by_length"][s.name] = score(s.path);
        figures["parts"] = Json::array();
        for (const TestSlice& s : slices_.parts) figures["parts"].push_back(score(s.path));
        for (const TestSlice& s : slices_.noisy) figures["noisy"] = score(s.path);
        std::string dev_metric = "dev score";
        figures["curve"] = curve_of(folder, dev_metric);
        figures["dev_metric"] = dev_metric;
    }

    ComparePlan plan_;
    std::string out_;
    TestSlices slices_;
    Comparison result_;
};

void run_compare(const CompareVerb& v) {
    ComparePlan plan = read_plan(v.recipe);
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
