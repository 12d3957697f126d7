#include "fovea/tasks/run_settings.h"

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr double tiny = 1e-300;  // above 0

void describe_data(RunSettings& r, Settings& s) {
    s.add("train", r.train, "records to learn from (the arguments of the verb are the same)",
          {.group = "data", .is_path = true});
    s.add("dev", r.dev, "records to measure on; auto: 5 % of the training data, at most 1000; none",
          {.group = "data", .common = true, .is_path = true});
    s.add("limit", r.limit, "so many training records, drawn with --seed; 0: all",
          {.group = "data", .min = 0});
    s.add("skip-bad", r.skip_bad, "bad lines to pass over", {.group = "data", .min = 0});
    s.add("dev-limit", r.dev_limit, "dev records used while training; 0: all",
          {.group = "data", .min = 0});
}

void describe_budget(RunSettings& r, Settings& s) {
    s.add("out", r.options.out, "the run's folder; the model will be OUT/model",
          {.group = "run", .common = true, .otherwise = "runs/DATE-N", .is_path = true});
    s.add("steps", r.steps, "stop after so many updates",
          {.group = "run", .common = true, .min = 1, .otherwise = "no bound"});
    s.add("epochs", r.epochs, "stop after so many passes over the data",
          {.group = "run",
           .common = true,
           .min = 1,
           .otherwise = "by the task, where no other budget is given"});
    s.add("minutes", r.minutes, "train for about so long: turned into updates before the first one",
          {.group = "run", .common = true, .min = tiny, .otherwise = "no bound"});
    s.add("planned-updates", r.planned_updates, "", {.group = "run", .min = 0, .hidden = true});
    s.add("planned-warmup", r.planned_warmup, "", {.group = "run", .min = 0, .hidden = true});
}

void describe_rates(RunSettings& r, Settings& s) {
    s.add("lr", r.rate, "highest learning rate",
          {.group = "run", .min = tiny, .otherwise = "by the task and size"});
    s.add("schedule", r.schedule,
          "shape of the learning rate; linear and cosine fall to --lr-floor at the run's end",
          {.group = "run", .choices = {"constant", "inverse-sqrt", "noam", "linear", "cosine"}});
    s.add("warmup", r.warmup, "updates of rising rate",
          {.group = "run", .min = 0, .otherwise = "a tenth of the run at most"});
    s.add("lr-floor", r.options.schedule.floor,
          "linear and cosine: share of the highest rate that is left at the end",
          {.group = "run", .min = 0, .max = 1});
    AdamWOptions& adam = r.options.adam;
    const SettingOptions beta{.group = "run", .min = 0, .max = 1, .below_max = true};
    s.add("adam-beta1", adam.beta1, "of AdamW", beta);
    s.add("adam-beta2", adam.beta2, "of AdamW", beta);
    s.add("adam-eps", adam.eps, "of AdamW", {.group = "run", .min = 1e-30});
    s.add("weight-decay", adam.weight_decay, "decoupled; not on norms and biases; 0: off",
          {.group = "run", .min = 0});
    s.add("clip", r.options.clip, "longest gradient; 0: off", {.group = "run", .min = 0});
    s.add("ema", r.options.ema, "decay of a moving average that is saved; 0: off", beta);
}

void describe_checkpoints(RunSettings& r, Settings& s, const std::vector<std::string>& metrics) {
    TrainOptions& o = r.options;
    const SettingOptions updates{.group = "run", .min = 0};
    s.add("eval-every", o.eval_every, "updates between evaluations; 0: each epoch", updates);
    s.add("save-every", o.save_every, "updates between checkpoints; 0: each epoch", updates);
    s.add("keep", o.keep, "checkpoints kept, besides the best", {.group = "run", .min = 1});
    s.add("patience", o.patience, "evaluations without a better one before stopping; 0: off",
          updates);
    std::vector<std::string> choices{"auto", "loss"};
    choices.insert(choices.begin() + 1, metrics.begin(), metrics.end());
    s.add("metric", r.metric, "of the dev set: which model is kept",
          {.group = "run", .choices = choices});
    s.add("allow-data-change", o.allow_data_change, "resume although the data differ",
          {.group = "run", .about_run = false});
}

}  // namespace

double new_rate(int width) { return width <= 256 ? 1e-3 : 3e-4; }
double tuning_rate(int width) { return width <= 256 ? 3e-4 : 5e-5; }

void refuse_without_effect(const std::string& name, const std::string& why,
                           const std::string& hint) {
    throw Error(text_of("train: --", name, " has no effect ", why), ErrorKind::usage, hint);
}

void RunSettings::describe(Settings& s, const std::vector<std::string>& metrics) {
    describe_data(*this, s);
    describe_budget(*this, s);
    describe_rates(*this, s);
    s.add("precision", precision, "of matrix products",
          {.group = "run", .choices = {"f32", "bf16"}});
    describe_checkpoints(*this, s, metrics);
    s.add("max-tokens", batches.max_tokens, "tokens of a batch", {.group = "batch", .min = 1});
    s.add("max-records", batches.max_examples, "records of a batch at most; 0: no bound",
          {.group = "batch", .min = 0});
    s.add("accumulate", options.accumulate, "batches to one update", {.group = "batch", .min = 1});
    s.add("seed", options.seed, "start of every random choice", {.group = "run", .hidden = true});
    s.add("from", from, "go on from this model folder instead of from scratch",
          {.group = "model", .is_path = true});
    s.add("vectors", vectors,
          "word vectors that the embedding starts from: a folder, .vec, .txt or .bin",
          {.group = "model", .is_path = true});
}

void leave_out(Settings& settings, std::span<const char* const> names, const std::string& why) {
    for (const char* name : names) {
        if (settings.given(name)) refuse_without_effect(name, why, text_of("leave out --", name));
        settings.find(name)->options.about_run = false;
    }
}

void RunSettings::check() const {
    if (!vectors.empty() && !from.empty())
        refuse_without_effect("vectors", "with --from: the model has an embedding",
                              "leave one of them out");
    if (measures()) return;
    const char* const hint = "give a --dev file, or leave it out";
    if (options.patience > 0) refuse_without_effect("patience", "with --dev none", hint);
    if (options.eval_every > 0) refuse_without_effect("eval-every", "with --dev none", hint);
    if (metric != "auto") refuse_without_effect("metric", "with --dev none", hint);
}

void RunSettings::settle(const RunDefaults& d) {
    TrainOptions& o = options;
    o.steps = steps.value_or(0);
    o.minutes = minutes.value_or(0);
    if (!steps && !epochs && !minutes) epochs = d.epochs;
    o.epochs = epochs.value_or(0);
    o.planned_updates = planned_updates.value_or(0);
    o.usual_warmup = d.warmup;
    o.schedule.kind = schedule_kind_of(schedule);
    o.schedule.d_model = d.d_model;
    if (!rate) rate = o.schedule.kind == ScheduleKind::noam ? 1.0 : d.rate;
    o.schedule.peak = *rate;
    o.schedule.warmup = warmup ? *warmup : planned_warmup.value_or(-1);
    batches.seed = o.seed;
}

void RunSettings::take_plan(const TrainOptions& planned) {
    options = planned;
    planned_updates = planned.planned_updates;
    if (!warmup) planned_warmup = planned.schedule.warmup;
}

}  // namespace fovea
