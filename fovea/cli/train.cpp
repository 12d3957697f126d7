#include "fovea/cli/train.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <ctime>
#include <memory>

#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/cli/recipe.h"
#include "fovea/cli/setting_flags.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/progress.h"
#include "fovea/cli/terminal/train_display.h"
#include "fovea/cli/train_verb.h"
#include "fovea/io/checkpoint_folder.h"
#include "fovea/tasks/task.h"

namespace fovea {
namespace {

// A budget on the command line replaces a recipe's, with what that was found to mean.
std::set<std::string> replaced_keys(const Settings& s) {
    for (const char* name : {"steps", "epochs", "minutes"})
        if (s.given(name))
            return {"steps", "epochs", "minutes", "planned-updates", "planned-warmup"};
    return {};
}

void apply_recipes(TrainVerb& v) {
    const std::set<std::string> replaced = replaced_keys(v.settings);
    if (!v.config.empty()) apply_recipe(v.settings, v.config, "train", replaced);
    v.trainer->check(v.settings, v.run);
    v.run.check();
    if (!v.resume || v.run.options.out.empty()) return;
    const std::string own = join_path(v.run.options.out, "config.toml");
    if (file_exists(own))
        apply_recipe(v.settings, own, "train", replaced);
    else if (v.run.train.empty() && v.trainer->needs_files())
        throw Error(v.run.options.out + ": holds no run to resume (no config.toml)",
                    ErrorKind::not_found, "give the folder that --out named, or all flags again");
}

// runs/2026-11-17-1, the first number that is free.
std::string new_run_folder() {
    const std::time_t now = std::time(nullptr);
    const std::string day = fmt::format("{:%Y-%m-%d}", fmt::localtime(now));
    for (int n = 1;; ++n) {
        const std::string path = join_path("runs", fmt::format("{}-{}", day, n));
        if (!file_exists(path)) return path;
    }
}

void settle(TrainVerb& v) {
    for (const std::string& file : v.files) v.settings.set("train", file);
    if (!v.settings.given("seed")) v.run.options.seed = global_options().seed;
    apply_recipes(v);
    if (v.run.train.empty() && v.trainer->needs_files())
        throw Error("fovea train: no data", ErrorKind::usage,
                    "fovea train pairs.tsv --dev dev.tsv --out run");
    if (!v.dump.empty() && !v.dry_run)
        refuse_without_effect("dump", "without --dry-run", "add --dry-run");
    TrainOptions& o = v.run.options;
    o.resume = v.resume;
    o.force = v.force;
    if (v.try_updates > 0 && v.autotune == 0)
        refuse_without_effect("try-updates", "without --autotune", "add --autotune MINUTES");
    if (v.autotune > 0 && (v.resume || v.dry_run))
        throw Error("train: --autotune goes with neither --resume nor --dry-run", ErrorKind::usage,
                    "a search that was interrupted goes on with the same command");
    if (v.resume && o.out.empty())
        throw Error("fovea train: --resume of which run?", ErrorKind::usage, "add --out RUN");
    if (o.out.empty() && !v.dry_run) {
        o.out = new_run_folder();
        if (!global_options().quiet) fmt::print(stderr, "run: {}   change with --out\n", o.out);
    }
    if (!v.dry_run) refuse_old_run(o);
}

std::string rate_line(const TrainOptions& run) {
    return fmt::format("{} updates, learning rate {} ({}, warm-up {})", run.planned_updates,
                       run.schedule.peak, name_of(run.schedule.kind), run.schedule.warmup);
}

void show_plan(const TrainSummary& s, const TrainOptions& run, const RunPlan& whole) {
    const std::int64_t per_epoch = (s.batches_per_epoch + run.accumulate - 1) / run.accumulate;
    const double epoch = whole.seconds * static_cast<double>(per_epoch) /
                         static_cast<double>(std::max<std::int64_t>(1, whole.updates));
    fmt::print(
        "parameters {}\nrecords {}\nleft out {}\ntokens per epoch {}\nupdates per epoch {}\n"
        "whole run {}\n"
        "memory at the peak, about {:.1f} GB\n"
        "time, about {} an epoch, {} in all\n",
        s.parameters, s.records, s.dropped, s.tokens_per_epoch, per_epoch, rate_line(run),
        s.memory_bytes / 1e9, duration_text(epoch), duration_text(whole.seconds));
}

[[noreturn]] void say_exploded(const TrainResult& r, const TrainOptions& run) {
    throw Error(
        fmt::format("train: the loss has exploded: it began at {:.2f} and is {:.3g} after "
                    "{} updates{}",
                    r.first_loss, r.smooth_loss, r.step,
                    r.best_metric ? fmt::format("; {}/model is of step {}", run.out, r.model_step)
                                  : "; no model was saved"),
        ErrorKind::failed,
        fmt::format("start over with a lower --lr (it was {}), a longer --warmup or --clip 1",
                    run.schedule.peak));
}

// The first example of the verb that the model is for, with this model.
std::string first_command(const std::string& task, const std::string& model) {
    const TaskEntry* entry = find_task(task);
    std::string command =
        entry && !entry->examples.empty() ? entry->examples[0] : "fovea predict run/model";
    constexpr std::string_view stand_in = "run/model";
    if (const std::size_t at = command.find(stand_in); at != std::string::npos)
        command.replace(at, stand_in.size(), model);
    return command;
}

void say_end(const TrainResult& r, const TrainVerb& v) {
    const std::string model = join_path(v.run.options.out, "model");
    if (r.end == TrainEnd::out_of_time)
        fmt::print(stderr,
                   "warning: updates took longer than measured: stopped at half as long again as "
                   "--minutes {}, before the rate came down; --resume goes on\n",
                   v.run.options.minutes);
    if (global_options().quiet) return;
    fmt::print(stderr, "{} after {} updates, {}\n",
               r.end == TrainEnd::stopped_early ? "stopped early"
               : r.end == TrainEnd::out_of_time ? "out of time"
                                                : "done",
               r.step, duration_text(r.seconds));
    const std::string verb = task_of_folder(model);  // pretraining makes models of other tasks
    fmt::print(stderr, "saved {}: step {}{}  |  try: {}  |  fovea eval {} --test FILE\n", model,
               r.model_step,
               r.best_metric ? fmt::format(", dev {} {:.{}f}", r.metric, *r.best_metric,
                                           r.metric == "loss" ? 4 : 1)
                             : "",
               first_command(verb.empty() ? v.task : verb, model), model);
}

// Settings that differ from those of the sittings before are told, not guessed.
void say_changes(const TrainVerb& v, const std::string& recipe) {
    const std::string own = join_path(v.run.options.out, "config.toml");
    if (!v.resume || !file_exists(own) || global_options().quiet) return;
    const std::string changes = changed_settings(own, recipe);
    if (!changes.empty()) fmt::print(stderr, "changed settings: {}\n", changes);
}

// Which flag makes the model larger or smaller: not every task has presets.
std::string way_to_other_sizes(TrainVerb& v) {
    for (const char* name : {"preset", "layers"})
        if (v.run.from.empty() && v.settings.find(name))
            return std::string("   change with --") + name;
    return "";
}

void run(TrainVerb& v) {
    settle(v);
    const auto say = [](const std::string& line) {
        if (!global_options().quiet) fmt::print(stderr, "{}\n", line);
    };
    if (!v.why.empty()) say(fmt::format("task: {} ({})   change with --task", v.task, v.why));
    if (v.autotune > 0) choose_settings(v, say);
    const PrecisionScope precision(precision_of(v.run.precision));
    v.trainer->prepare(v.run, say);
    const TrainSummary summary = v.trainer->summary();
    say(fmt::format("model: {}, {} parameters{}", summary.model,
                    rate_text(static_cast<double>(summary.parameters)), way_to_other_sizes(v)));
    if (v.dry_run && !v.dump.empty())
        v.trainer->dump(v.dump, std::max<std::int64_t>(1, v.run.options.epochs));
    TrainTask task = v.trainer->task();
    RunPlan whole;
    v.run.take_plan(settled(task, v.run.options, &whole, v.dry_run));
    if (v.dry_run) return show_plan(summary, v.run.options, whole);
    say("plan: " + rate_line(v.run.options) +
        (whole.seconds > 0 ? fmt::format(", about {}", duration_text(whole.seconds)) : ""));
    task.config_text = recipe_text(v.settings, "train");
    say_changes(v, task.config_text);

    const InterruptScope scope;
    TrainDisplay display(global_options().quiet);
    const TrainResult r = train(task, v.run.options, display.events());
    display.finish();
    if (r.end == TrainEnd::interrupted) {
        fmt::print(stderr, "stopped at step {}; go on with: fovea train --out {} --resume\n",
                   r.step, v.run.options.out);
        throw Interrupted{r.signal};
    }
    if (r.end == TrainEnd::exploded) say_exploded(r, v.run.options);
    say_end(r, v);
}

}  // namespace

void add_train_command(CLI::App& app, const TaskOfWords& task) {
    CLI::App* v = app.add_subcommand("train", "Train a model from the files you have.");
    const TaskEntry* entry = find_task(task.name);
    if (!entry || !entry->trainer)
        entry = &tasks()[0];  // an unknown name: the parser says so below
    const std::shared_ptr<TrainVerb> verb = new_train_verb(*entry);
    verb->why = task.why;

    v->add_option("FILES", verb->files,
                  "records to learn from: .tsv, .csv, .jsonl, .txt (.gz), "
                  "parallel files a.en,a.de, a folder; - is standard input");
    add_setting_flags(*v, verb->settings);
    const auto run_flag = [&](CLI::Option* o) { o->group("run"); };
    run_flag(v->add_flag("--resume", verb->resume,
                         "go on from the newest checkpoint of --out, with the run's own settings"));
    v->add_option("--config", verb->config, "settings from a recipe file (TOML)")
        ->group(more_group_of("run"));
    run_flag(v->add_flag("--dry-run", verb->dry_run,
                         "say what would be done: parameters, memory, time"));
    v->add_flag("--force", verb->force, "remove an old run in OUT first")
        ->group(more_group_of("run"));
    v->add_option("--dump", verb->dump,
                  "with --dry-run: write weights and batches for another program")
        ->group(more_group_of("run"));
    v->add_option("--autotune", verb->autotune,
                  "so many minutes in all: try sizes and rates on the dev set, then train the best")
        ->check(CLI::PositiveNumber)
        ->group(more_group_of("run"));
    v->add_option("--try-updates", verb->try_updates,
                  "--autotune: updates of a try, instead of a share of the minutes")
        ->check(CLI::PositiveNumber)
        ->group(more_group_of("run"));
    set_examples(*v, {"fovea train train.tsv --dev dev.tsv --out run",
                      "fovea train --task " + verb->task + " train.tsv --minutes 30",
                      "fovea train reviews.csv --autotune 10", "fovea train --out run --resume"});
    v->callback([verb] { run(*verb); });
}

}  // namespace fovea
