#include "fovea/tasks/average.h"

#include "fovea/base/files.h"
#include "fovea/io/manifest.h"
#include "fovea/io/model_weights.h"
#include "fovea/tasks/multi.h"
#include "fovea/tasks/task.h"
#include "fovea/train/averaging.h"

namespace fovea {
namespace {

// Checkpoints of two runs in one folder have nothing in common but their names.
void refuse_mixed_runs(const std::string& run, const std::vector<std::string>& steps) {
    std::string first;
    for (const std::string& step : steps) {
        const std::string path = join_path(join_path(run, step), "MANIFEST.json");
        const std::string id = parse_manifest(read_file(path, 1 << 24), path).run;
        if (step == steps.front()) first = id;
        if (id != first)
            throw Error(text_of(run, ": ", steps.front(), " and ", step, " are of different runs"),
                        ErrorKind::bad_input, "take fewer with --last, or move the old ones away");
    }
}

}  // namespace

std::vector<std::string> average_checkpoints(const std::string& run, int last,
                                             const std::string& out, bool overwrite) {
    std::vector<std::string> steps;
    for (const std::string& name : list_folder(run))
        if (name.rfind("step-", 0) == 0 &&
            file_exists(join_path(join_path(run, name), "MANIFEST.json")))
            steps.push_back(name);  // sorted: step numbers are padded with zeros
    if (steps.empty())
        throw Error(run + ": holds no checkpoint", ErrorKind::not_found,
                    "checkpoints are folders step-N; keep more of them with train --keep 10");
    if (static_cast<int>(steps.size()) > last) steps.erase(steps.begin(), steps.end() - last);
    refuse_mixed_runs(run, steps);

    ModelFolder model = ModelFolder::open(join_path(run, "model"));
    const TaskEntry* task = find_task(model.task);
    expect_input(task != nullptr, run, ": the model's task \"", model.task, "\" is not known");
    std::vector<std::vector<std::pair<std::string, Tensor>>> sets;
    for (const std::string& step : steps) {
        const ModelWeights weights(join_path(run, step));
        std::vector<std::pair<std::string, Tensor>> set;
        for (const std::string& name : weights.names())
            if (!name.starts_with(beside_prefix)) set.emplace_back(name, weights.read(name));
        sets.push_back(std::move(set));
    }
    ParameterStore mean;
    for (auto& [name, value] : mean_of(sets)) mean.put(name, value);
    model.about["averaged"] = steps;
    task->save(model, mean, out, overwrite);
    return steps;
}

}  // namespace fovea
