#include "fovea/cli/model_flags.h"

#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/cli/setting_flags.h"

namespace fovea {

namespace {

// For a model of another task than the one asked for: a pretrained one can learn it.
std::string way_out(const ModelFolder& f, const std::string& asked) {
    const TaskEntry *of_model = find_task(f.task), *wanted = find_task(asked);
    const bool learns = of_model && !of_model->trainer && wanted && wanted->trainer;
    return "fovea " + f.task + " " + f.path +
           (learns ? "; or let it learn: fovea train --task " + asked + " --from " + f.path : "");
}

}  // namespace

ModelFlags::ModelFlags(CLI::App& verb, const std::string& task) : task_(task) {
    verb.add_option("MODEL", folder_, "a model folder, such as run/model, or a run")->required();
    verb.add_option("--precision", precision_,
                    "of weights and matrix products [f32; int8 for int8 folders]")
        ->check(CLI::IsMember(WeightChoice::names()));
    verb.add_option("--ensemble", others_,
                    "another model (again for more): the mean of their probabilities counts")
        ->allow_extra_args(false)  // one per flag, so that FILES may follow
        ->delimiter(',')
        ->group(more_group);
    if (const TaskEntry* entry = find_task(task); entry && entry->predictor) {
        predictor_ = entry->predictor();
        predictor_->describe(settings_);
        add_setting_flags(verb, settings_);
    }
}

const Predictor& ModelFlags::open() {
    std::vector<ModelFolder> folders;
    folders.push_back(ModelFolder::open(folder_));
    for (const std::string& other : others_) folders.push_back(ModelFolder::open(other));
    const TaskEntry* asked = find_task(task_);
    for (ModelFolder& f : folders) {
        if (asked && asked->opens_all) continue;
        if (f.task.empty()) f.task = task_of_config(f);
        if (!task_.empty() && f.task.empty())
            throw Error(f.path + ": nothing here says that it is a model to " + task_,
                        ErrorKind::bad_input,
                        "of a pretrained model, fovea train --task " + task_ + " --from " + f.path +
                            " makes one");
        if (!task_.empty() && f.task != task_ && !(asked && f.task == asked->also))
            throw Error(f.path + ": is a model to " + f.task + ", not to " + task_,
                        ErrorKind::usage, way_out(f, task_));
    }
    if (!predictor_) {
        const TaskEntry* entry = find_task(folders[0].task);
        if (!entry || !entry->predictor)
            throw Error(folders[0].path + ": nothing here says what the model is for (task \"" +
                            folders[0].task + "\")",
                        ErrorKind::bad_input, "fovea.json names the task of a model");
        task_ = entry->name;
        predictor_ = entry->predictor();
        predictor_->describe(settings_);
    }
    if (Setting* seed = settings_.find("seed"); seed && !seed->given)
        seed->set(std::to_string(global_options().seed));
    if (precision_.empty()) precision_ = folders[0].about.value("weights", std::string("f32"));
    predictor_->open(folders, WeightChoice::named(precision_));
    return *predictor_;
}

}  // namespace fovea
