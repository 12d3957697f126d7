// Options before the first update: are they sound, and what do they leave open?
#include <cmath>

#include "fovea/base/files.h"
#include "fovea/io/checkpoint_folder.h"
#include "fovea/train/loop.h"
#include "fovea/train/timing.h"

namespace fovea {
namespace {

// The state of the newest checkpoint that has a readable one; weights are not looked at.
std::optional<TrainState> newest_state(const std::string& run) {
    if (!is_folder(run)) return {};
    const std::vector<std::int64_t> steps = checkpoint_steps(run);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        const std::string path = join_path(checkpoint_path(run, *step), "state.json");
        try {
            return parse_state(read_file(path, 1 << 24), path);
        } catch (const Error&) {
            // Resuming says what is wrong with it.
        }
    }
    return {};
}

// Parameters and two moments, written, synced and read back at 100 MB/s: a guess for a usual disk.
double checkpoint_seconds(const ParameterStore& store) {
    return 12.0 * static_cast<double>(store.count()) / 1e8;
}

}  // namespace

void TrainOptions::check() const {
    const auto want = [](bool ok, const char* flag, const auto& value, const char* range) {
        if (!ok)
            fail_with(ErrorKind::usage, text_of(flag, " takes ", range), "train: ", flag, " is ",
                      value);
    };
    want(steps >= 0, "--steps", steps, "a number of updates from 1");
    want(epochs >= 0, "--epochs", epochs, "a number of passes from 1");
    want(std::isfinite(minutes) && minutes >= 0, "--minutes", minutes, "a number above 0");
    want(accumulate >= 1, "--accumulate", accumulate, "a number of batches from 1");
    want(std::isfinite(clip) && clip >= 0, "--clip", clip, "a number from 0 (off)");
    want(adam.beta1 >= 0 && adam.beta1 < 1, "--adam-beta1", adam.beta1, "a number from 0, below 1");
    want(adam.beta2 >= 0 && adam.beta2 < 1, "--adam-beta2", adam.beta2, "a number from 0, below 1");
    want(adam.eps > 0 && std::isfinite(adam.eps), "--adam-eps", adam.eps, "a number above 0");
    want(adam.weight_decay >= 0 && std::isfinite(adam.weight_decay), "--weight-decay",
         adam.weight_decay, "a number from 0 (off)");
    want(ema >= 0 && ema < 1, "--ema", ema, "a number from 0 (off), below 1");
    want(eval_every >= 0, "--eval-every", eval_every, "a number of updates from 0 (each epoch)");
    want(save_every >= 0, "--save-every", save_every, "a number of updates from 0 (each epoch)");
    want(keep >= 1, "--keep", keep, "a number of checkpoints from 1");
    want(patience >= 0, "--patience", patience, "a number of evaluations from 0 (off)");
    want(std::isfinite(schedule.peak) && schedule.peak >= 0, "--lr", schedule.peak,
         "a number above 0");
    if (steps <= 0 && epochs <= 0 && minutes <= 0)
        fail_with(ErrorKind::usage, "give --steps, --epochs or --minutes", "train: no budget");
}

void refuse_old_run(const TrainOptions& options) {
    if (options.resume || options.force || !holds_run(options.out)) return;
    throw Error(options.out + ": holds a run already", ErrorKind::usage,
                "--resume goes on with it, --force removes it and starts over, or choose another "
                "--out");
}

TrainOptions settled(const TrainTask& task, TrainOptions o, RunPlan* plan, bool measure) {
    o.check();
    const std::optional<TrainState> before =
        o.resume ? newest_state(o.out) : std::optional<TrainState>();
    if (before && before->budget == budget_text(o.budget()))
        o.planned_updates = before->planned_updates;

    const std::int64_t batches = task.begin_epoch(0);
    const std::int64_t per_epoch = (batches + o.accumulate - 1) / o.accumulate;
    RunCost cost;
    if (measure || (o.minutes > 0 && o.planned_updates == 0)) {
        cost.update_seconds = seconds_per_update(task, o);
        const bool evaluates = static_cast<bool>(task.evaluate);
        const std::int64_t every = evaluates ? o.eval_every : o.save_every;
        cost.evaluate_every = every > 0 ? every : per_epoch;
        // Each evaluation may find a new best, which is saved.
        cost.evaluation_seconds = checkpoint_seconds(*task.store);
        if (evaluates && task.evaluation_seconds)
            cost.evaluation_seconds += task.evaluation_seconds();
    }
    Budget budget = o.budget();
    if (o.planned_updates > 0) budget = {.steps = o.planned_updates};
    RunPlan found = plan_run(budget, per_epoch, cost, o.usual_warmup);
    if (before) found.warmup = before->planned_warmup;  // a run has one warm-up
    o.planned_updates = found.updates;
    o.schedule = with_plan(o.schedule, found);
    if (plan) *plan = found;
    return o;
}

}  // namespace fovea
