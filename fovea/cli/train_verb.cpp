#include "fovea/cli/train_verb.h"

#include "fovea/cli/options.h"
#include "fovea/cli/recipe.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/train_display.h"

namespace fovea {

std::unique_ptr<TrainVerb> new_train_verb(const TaskEntry& task) {
    auto verb = std::make_unique<TrainVerb>();
    verb->entry = &task;
    verb->trainer = task.trainer();
    verb->task = task.name;
    verb->settings.add("task", verb->task,
                       "what to learn; its flags are listed with --task NAME --help",
                       {.group = "data", .common = true, .choices = trained_tasks()});
    verb->run.describe(verb->settings, verb->trainer->metrics());
    verb->trainer->describe(verb->settings);
    return verb;
}

TrainRun run_with_live_line(TrainVerb& v) {
    v.trainer->check(v.settings, v.run);
    v.run.check();
    const PrecisionScope precision(precision_of(v.run.precision));
    v.trainer->prepare(v.run, [](const std::string&) {});
    TrainRun out;
    out.summary = v.trainer->summary();
    TrainTask task = v.trainer->task();
    v.run.take_plan(settled(task, v.run.options));
    task.config_text = recipe_text(v.settings, "train");

    const InterruptScope scope;
    TrainDisplay display(global_options().quiet);
    TrainEvents events = display.events();
    events.step = [&out, live = events.step](const StepReport& r) {
        out.memory = std::max(out.memory, r.memory);
        live(r);
    };
    events.epoch = {};
    events.message = {};
    events.evaluation = [&](const EvaluationReport& r) {
        out.higher_is_better = r.evaluation.higher_is_better;
    };
    out.result = train(task, v.run.options, events);
    display.finish();
    if (out.result.end == TrainEnd::interrupted) throw Interrupted{out.result.signal};
    return out;
}

}  // namespace fovea
