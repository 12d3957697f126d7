#pragma once
// The training loop. It knows no model: a task hands it a loss, a metric and a way to save. State
// is explicit and small (train_state.h), so that a run that is killed and resumed gives the same
// bits as one that was not.
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "fovea/base/json.h"
#include "fovea/tensor/parameter_store.h"
#include "fovea/train/adamw.h"
#include "fovea/train/best.h"
#include "fovea/train/run_plan.h"
#include "fovea/train/schedule.h"

namespace fovea {

struct TrainOptions {
    std::string out;         // the run folder
    std::int64_t steps = 0;  // the budget: the first that is reached ends the run; 0: no bound
    std::int64_t epochs = 0;
    double minutes = 0;
    // What the budget means in updates; 0: found out before the first one. A run that is resumed
    // with the same budget keeps its own number, whatever stands here.
    std::int64_t planned_updates = 0;
    std::uint64_t seed = 1;
    int accumulate = 1;  // batches to one update
    double clip = 1.0;   // of the gradients' norm; 0: off
    AdamWOptions adam;
    Schedule schedule;                 // what it leaves open is filled in by the plan
    std::int64_t usual_warmup = 4000;  // at most so long, and at most a tenth of the run
    double ema = 0;                    // decay of the moving average; 0: off
    std::int64_t eval_every = 0;       // updates; 0: at the end of each epoch
    std::int64_t save_every = 0;       // updates; 0: at the end of each epoch
    int keep = 3;                      // checkpoints, besides the best
    int patience = 0;                  // evaluations without a better one before stopping; 0: off
    int max_bad_steps = 10;            // consecutive updates with a non-finite loss or gradient
    bool resume = false;               // go on from the newest whole checkpoint
    bool force = false;                // remove an old run first
    bool allow_data_change = false;

    Budget budget() const { return {steps, epochs, minutes}; }
    // Wrong values are usage errors that name the flag. A schedule may be left open.
    void check() const;
};

// What the loop asks of a task. All calls come from the loop's thread.
struct TrainTask {
    ParameterStore* store = nullptr;
    // Fixed for the run; a change between runs is refused on resume.
    Json fingerprint;
    std::string config_text;  // for RUN/config.toml

    // Plans an epoch and says how many batches it has.
    std::function<std::int64_t(std::int64_t epoch)> begin_epoch;
    // How much batch `index` of the current epoch counts in an update's mean: its tokens in the
    // loss, its labels, its pixels.
    std::function<std::int64_t(std::int64_t index)> batch_weight;
    const char* unit = "tok";  // of that weight, for people: "18.4 k tok/s"
    // The mean loss of that batch. Called with a tape alive.
    std::function<Tensor(std::int64_t index)> loss;
    // A task that trains its parameters itself, without tape and AdamW (word vectors): one update
    // with batch `index` at this rate, instead of `loss`. Gives the mean loss. A rate of 0 changes
    // nothing: so the time of an update is measured.
    std::function<double(std::int64_t index, double rate)> own_update{};
    // The loss of guessing, such as ln V: a loss far above it and above the first one has exploded.
    double guessing_loss = 0;
    std::function<Evaluation()> evaluate;                       // may be empty
    std::function<double()> evaluation_seconds;                 // about; may be empty
    std::function<void(const std::string& folder)> save_model;  // a Hugging Face style folder
    ParameterRules parameter_rules;                             // empty: the usual rule for all
};

struct StepReport {
    std::int64_t step = 0, epoch = 0, batch = 0, batches = 0;  // epoch from 1
    double loss = 0, smooth_loss = 0, rate = 0, gradient_norm = 0;
    double tokens_per_second = 0, progress = 0;  // progress in 0 … 1
    const char* unit = "tok";                    // TrainTask::unit
    std::int64_t tokens = 0;                     // seen so far
    std::int64_t memory = 0;                     // bytes of tensors at the peak
};

struct EvaluationReport {
    Evaluation evaluation;
    bool best = false;
    std::int64_t step = 0, epoch = 0;  // epoch from 1
};

// For people: the command line draws these; nothing depends on them.
struct TrainEvents {
    std::function<void(const StepReport&)> step;
    std::function<void(std::int64_t epoch, double mean_loss, double seconds)> epoch;  // from 1
    std::function<void(const EvaluationReport&)> evaluation;
    std::function<void(const std::string&)> message;
    const std::atomic<int>* stop = nullptr;  // a signal's number once one has come
};

enum class TrainEnd {
    finished,
    stopped_early,  // by patience
    out_of_time,    // half as long again as --minutes: updates took longer than planned
    exploded,       // the loss: see TrainTask::guessing_loss
    interrupted,
};

struct TrainResult {
    TrainEnd end = TrainEnd::finished;
    std::int64_t step = 0;
    double first_loss = 0, smooth_loss = 0, last_loss = 0;
    std::optional<double> best_metric;
    std::string metric;           // its name
    std::int64_t model_step = 0;  // which update RUN/model is of
    double seconds = 0;
    std::int64_t tokens = 0;
    int signal = 0;  // why it was interrupted
};

// The options with all that was left open: the number of updates, warm-up and the schedule's end.
// Measures a few batches where minutes are the budget (or `measure` asks for it), unless the run
// that is resumed, or planned_updates, says what they mean. `plan` takes what was found.
TrainOptions settled(const TrainTask& task, TrainOptions options, RunPlan* plan = nullptr,
                     bool measure = false);

// A folder that holds a run is refused unless it is resumed or removed.
void refuse_old_run(const TrainOptions& options);

TrainResult train(const TrainTask& task, const TrainOptions& options, const TrainEvents& events);

}  // namespace fovea
