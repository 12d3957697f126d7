#pragma once
// The training loop. It knows no model: a task hands it a loss, a metric and a way to save. State
// is explicit and small (step, epoch, next batch, random streams, best metric), so that a run that
// is killed and resumed gives the same bits as one that was not.
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "fovea/base/json.h"
#include "fovea/tensor/parameter_store.h"
#include "fovea/train/adamw.h"
#include "fovea/train/schedule.h"

namespace fovea {

struct TrainOptions {
    std::string out;         // the run folder
    std::int64_t steps = 0;  // the budget: the first that is reached ends the run; 0: no bound
    std::int64_t epochs = 0;
    double minutes = 0;
    std::uint64_t seed = 1;
    int accumulate = 1;  // batches to one update
    double clip = 1.0;   // of the gradients' norm; 0: off
    AdamWOptions adam;
    Schedule schedule;
    double ema = 0;               // decay of the moving average; 0: off
    std::int64_t eval_every = 0;  // updates; 0: at the end of each epoch
    std::int64_t save_every = 0;  // updates; 0: at the end of each epoch
    int keep = 3;                 // checkpoints, besides the best
    int patience = 0;             // evaluations without a better metric before stopping; 0: off
    int max_bad_steps = 10;       // consecutive updates with a non-finite loss or gradient
    bool resume = false;          // go on from the newest whole checkpoint
    bool allow_data_change = false;
};

// The metric of one evaluation; extra figures go to the logs.
struct Evaluation {
    std::string name;  // e.g. "BLEU"
    double value = 0;
    bool higher_is_better = true;
    Json extra = Json::object();
};

// What the loop asks of a task. All calls come from the loop's thread.
struct TrainTask {
    ParameterStore* store = nullptr;
    // Fixed for the run; a change between runs is refused on resume.
    Json fingerprint;
    std::string config_text;  // for RUN/config.toml

    // Plans an epoch and says how many batches it has.
    std::function<std::int64_t(std::int64_t epoch)> begin_epoch;
    // Tokens that count in the loss of batch `index` of the current epoch.
    std::function<std::int64_t(std::int64_t index)> batch_tokens;
    // The mean loss of that batch. Called with a tape alive.
    std::function<Tensor(std::int64_t index)> loss;
    std::function<Evaluation()> evaluate;                       // may be empty
    std::function<void(const std::string& folder)> save_model;  // a Hugging Face style folder
};

struct StepReport {
    std::int64_t step = 0, epoch = 0, batch = 0, batches = 0;
    double loss = 0, smooth_loss = 0, rate = 0, gradient_norm = 0;
    double tokens_per_second = 0, seconds_left = -1, progress = 0;  // progress in 0 … 1
    std::int64_t memory = 0;                                        // bytes of tensors at the peak
};

// For people: the command line draws these; nothing depends on them.
struct TrainEvents {
    std::function<void(const StepReport&)> step;
    std::function<void(std::int64_t epoch, double mean_loss, double seconds)> epoch;
    std::function<void(const Evaluation&, bool best, std::int64_t step)> evaluation;
    std::function<void(const std::string&)> message;
    const std::atomic<int>* stop = nullptr;  // a signal's number once one has come
};

enum class TrainEnd { finished, stopped_early, interrupted };

struct TrainResult {
    TrainEnd end = TrainEnd::finished;
    std::int64_t step = 0;
    double last_loss = 0;
    std::optional<double> best_metric;
    double seconds = 0;
    std::int64_t tokens = 0;
    int signal = 0;  // why it was interrupted
};

TrainResult train(const TrainTask& task, const TrainOptions& options, const TrainEvents& events);

}  // namespace fovea
