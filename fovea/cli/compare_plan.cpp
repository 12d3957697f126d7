#include "fovea/cli/compare_plan.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/recipe.h"
#include "fovea/data/record_shape.h"

namespace fovea {
namespace {

constexpr const char* of_prediction = "predict.";

std::string text_of_value(const Json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); }

std::int64_t seeds_of(const std::string& value, const std::string& path) {
    const std::int64_t seeds = std::atoll(value.c_str());
    expect_input(seeds >= 1 && seeds <= 100, path, ": seeds is ", value,
                 ", but may be from 1 to 100");
    return seeds;
}

// A list of texts, as a recipe has it.
std::vector<std::string> texts_of(const std::string& key, const std::string& value,
                                  const std::string& path) {
    std::vector<std::string> all;
    const auto wrong = [&] {
        return Error(path + ": " + key + " is " + value, ErrorKind::bad_input,
                     key + " = [\"one\", \"two\"]");
    };
    if (!value.starts_with("[")) throw wrong();
    for (const Json& v : parse_json(value, path)) {
        if (!v.is_string()) throw wrong();
        all.push_back(v.get<std::string>());
    }
    return all;
}

PlannedModel model_of(const std::string& table, const std::string& path) {
    const Json j = parse_json(table, path);
    PlannedModel model;
    for (const auto& [key, value] : j.items()) {
        const std::string text = text_of_value(value);
        if (key == "name")
            model.name = text;
        else if (key == "seeds")
            model.seeds = seeds_of(text, path);
        else if (key == "trained")
            model.trained = text;
        else if (key.starts_with(of_prediction))
            model.predict.emplace_back(key.substr(8), text);
        else
            model.own.emplace_back(key, text);
    }
    if (model.name.empty())
        throw Error(path + ": a [[model]] has no name", ErrorKind::bad_input,
                    "name = \"transformer\"");
    if (model.name.find_first_of("/\\") != std::string::npos)
        throw Error(path + ": the name `" + model.name + "` cannot be a folder's",
                    ErrorKind::bad_input, "leave out the slash");
    return model;
}

void take_compare_key(ComparePlan& plan, const std::string& key, const std::string& value,
                      const std::string& path) {
    if (key == "models") {
        plan.models.push_back(model_of(value, path));
    } else if (key == "test") {
        plan.test = value;
    } else if (key == "also-test") {
        plan.also_test = texts_of(key, value, path);
    } else if (key == "columns") {
        plan.columns = texts_of(key, value, path);
    } else if (key == "figure") {
        plan.figure = value;
    } else if (key == "map") {
        plan.map =
            value.starts_with("[") ? texts_of(key, value, path) : std::vector<std::string>{value};
    } else if (key == "inputs") {
        plan.inputs = texts_of(key, value, path);
    } else if (key == "seeds") {
        plan.seeds = seeds_of(value, path);
    } else if (key == "task") {
        plan.task = find_task(value);
        if (!plan.task || !plan.task->trainer)
            throw Error(path + ": there is no task `" + value + "` to train", ErrorKind::usage);
    } else if (key.starts_with(of_prediction)) {
        plan.predict.emplace_back(key.substr(8), value);
    } else {
        plan.shared.emplace_back(key, value);
    }
}

// A row without training of its own, and its seeds.
void settle_trained(const ComparePlan& plan, std::size_t i, PlannedModel& model,
                    const std::string& path) {
    const auto begin = plan.models.begin(), end = begin + static_cast<std::ptrdiff_t>(i);
    const auto source =
        std::find_if(begin, end, [&](const auto& m) { return m.name == model.trained; });
    if (source == end)
        throw Error(path + ": model `" + model.name + "`: no row before it is called `" +
                        model.trained + "`",
                    ErrorKind::bad_input, "trained names the row whose runs are measured again");
    if (!model.own.empty())
        throw Error(path + ": model `" + model.name + "` is not trained, so `" +
                        model.own[0].first + "` has no effect",
                    ErrorKind::bad_input, "leave out trained, or the setting");
    if (!source->trained.empty()) model.trained = source->trained;
    if (model.seeds == 0) model.seeds = source->seeds;
    expect_input(model.seeds <= source->seeds, path, ": model `", model.name, "` has ", model.seeds,
                 " seeds, but `", source->name, "` only ", source->seeds);
}

void check_model(const ComparePlan& plan, const PlannedModel& model, const std::string& path) {
    try {
        if (model.trained.empty()) {
            const auto verb = plan.verb_of(model);
            verb->trainer->check(verb->settings, verb->run);
        }
        if (plan.task->predictor) predictor_with(*plan.task, plan, model);
    } catch (const Error& e) {
        throw Error(path + ": model `" + model.name + "`: " + e.what(), ErrorKind::usage, e.hint());
    }
}

void check_models(ComparePlan& plan, const std::string& path) {
    for (std::size_t i = 0; i < plan.models.size(); ++i) {
        PlannedModel& model = plan.models[i];
        for (std::size_t k = 0; k < i; ++k)
            if (plan.models[k].name == model.name)
                throw Error(path + ": two models are called `" + model.name + "`",
                            ErrorKind::bad_input);
        if (!model.trained.empty()) settle_trained(plan, i, model, path);
        if (model.seeds == 0) model.seeds = plan.seeds;
        check_model(plan, model, path);
    }
}

Json object_of(const SettingValues& first, const SettingValues& second) {
    Json all = Json::object();
    for (const auto& [key, value] : first) all[key] = value;
    for (const auto& [key, value] : second) all[key] = value;
    return all;
}

}  // namespace

const PlannedModel& ComparePlan::model(const std::string& name) const {
    return *std::find_if(models.begin(), models.end(),
                         [&](const PlannedModel& m) { return m.name == name; });
}

std::unique_ptr<TrainVerb> ComparePlan::verb_of(const PlannedModel& model) const {
    auto verb = new_train_verb(*task);
    for (const auto& [key, value] : shared) verb->settings.set(key, value);
    for (const auto& [key, value] : model.own) verb->settings.set(key, value);
    return verb;
}

Json ComparePlan::training_of(const PlannedModel& m) const {
    return object_of(shared, m.trained.empty() ? m.own : model(m.trained).own);
}

Json ComparePlan::measuring_of(const PlannedModel& model) const {
    return {{"test", test},
            {"also_test", also_test},
            {"figure", figure},
            {"parts", model.seeds == 1},
            {"predict", object_of(predict, model.predict)}};
}

std::unique_ptr<Predictor> predictor_with(const TaskEntry& task, const ComparePlan& plan,
                                          const PlannedModel& model) {
    auto predictor = task.predictor();
    Settings settings;
    predictor->describe(settings);
    for (const SettingValues* values : {&plan.predict, &model.predict})
        for (const auto& [key, value] : *values) settings.set(key, value);
    return predictor;
}

ComparePlan read_compare_plan(const std::string& path) {
    ComparePlan plan;
    for (const auto& [key, value] : read_recipe(path, "compare"))
        take_compare_key(plan, key, value, path);
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

}  // namespace fovea
