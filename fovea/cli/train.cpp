#include "fovea/cli/train.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/interrupt.h"
#include "fovea/cli/terminal/progress.h"
#include "fovea/cli/terminal/train_display.h"
#include "fovea/tasks/seq2seq_train.h"

namespace fovea {
namespace {

std::string rate_line(const TrainOptions& run) {
    return fmt::format("{} updates, learning rate {} ({}, warm-up {})", run.planned_updates,
                       run.schedule.peak, name_of(run.schedule.kind), run.schedule.warmup);
}

void show_plan(const Seq2SeqPlan& plan, const TrainOptions& run, const RunPlan& whole) {
    const std::int64_t per_epoch = (plan.batches_per_epoch + run.accumulate - 1) / run.accumulate;
    const double epoch = whole.seconds * static_cast<double>(per_epoch) /
                         static_cast<double>(std::max<std::int64_t>(1, whole.updates));
    fmt::print(
        "parameters {}\npairs {}\nleft out {}\ntarget tokens per epoch {}\nupdates per epoch {}\n"
        "whole run {}\n"
        "memory at the peak, about {:.1f} GB\n"
        "time, about {} an epoch, {} in all\n",
        plan.parameters, plan.pairs, plan.dropped, plan.target_tokens, per_epoch, rate_line(run),
        plan.memory_bytes / 1e9, duration_text(epoch), duration_text(whole.seconds));
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

void say_end(const TrainResult& r, const TrainingFlags& f) {
    const std::string model = join_path(f.t.run.out, "model");
    if (r.end == TrainEnd::out_of_time)
        fmt::print(stderr,
                   "warning: updates took longer than measured: stopped at half as long again as "
                   "--minutes {}, before the rate came down; --resume goes on\n",
                   f.t.run.minutes);
    if (global_options().quiet) return;
    fmt::print(stderr, "{} after {} updates, {}\n",
               r.end == TrainEnd::stopped_early ? "stopped early"
               : r.end == TrainEnd::out_of_time ? "out of time"
                                                : "done",
               r.step, duration_text(r.seconds));
    fmt::print(stderr,
               "saved {}: step {}{}  |  try: fovea {} {} < texts.txt  |  fovea eval {} --test "
               "test.tsv\n",
               model, r.model_step,
               r.best_metric ? fmt::format(", dev {} {:.{}f}", r.metric, *r.best_metric,
                                           r.metric == "loss" ? 4 : 1)
                             : "",
               f.task, model, model);
}

// Settings that differ from those of the sittings before are told, not guessed.
void say_changes(const TrainingFlags& f, const std::string& recipe) {
    const std::string own = join_path(f.t.run.out, "config.toml");
    if (!f.t.run.resume || !file_exists(own) || global_options().quiet) return;
    const std::string changes = changed_settings(own, recipe);
    if (!changes.empty()) fmt::print(stderr, "changed settings: {}\n", changes);
}

void run(CLI::App& verb, TrainingFlags& f) {
    settle(verb, f);
    const bool quiet = global_options().quiet;
    const auto say = [&](const std::string& line) {
        if (!quiet) fmt::print(stderr, "{}\n", line);
    };
    if (!f.dry_run) refuse_old_run(f);
    f.t.precision = precision_of(f.precision);
    Seq2SeqTrainer trainer(f.t, say);
    const Seq2SeqPlan plan = trainer.plan();
    const TransformerConfig& c = trainer.model().config;
    say(fmt::format("model: {}{}+{} layers, d={}, ffn={}, {} heads, {} parameters{}",
                    f.t.from.empty() ? f.preset + ", " : "", c.encoder_layers, c.decoder_layers,
                    c.d_model, c.encoder_ffn_dim, c.encoder_attention_heads,
                    rate_text(static_cast<double>(plan.parameters)),
                    f.t.from.empty() ? "   change with --preset" : ""));
    if (f.dry_run && !f.dump.empty())
        trainer.dump(f.dump, std::max<std::int64_t>(1, f.t.run.epochs));
    const RunPlan whole = trainer.settle(f.dry_run);
    const TrainOptions& options = trainer.run_options();
    if (f.dry_run) return show_plan(plan, options, whole);
    say("plan: " + rate_line(options) +
        (whole.seconds > 0 ? fmt::format(", about {}", duration_text(whole.seconds)) : ""));
    const std::string recipe = run_recipe(verb, f, options);
    say_changes(f, recipe);
    trainer.set_config_text(recipe);

    const InterruptScope scope;
    TrainDisplay display(quiet);
    const TrainResult r = trainer.run(display.events());
    display.finish();
    if (r.end == TrainEnd::interrupted) {
        fmt::print(stderr, "stopped at step {}; go on with: fovea train --out {} --resume\n",
                   r.step, f.t.run.out);
        throw Interrupted{r.signal};
    }
    if (r.end == TrainEnd::exploded) say_exploded(r, options);
    say_end(r, f);
}

}  // namespace

void add_train_command(CLI::App& app) {
    CLI::App* v = app.add_subcommand("train", "Train a model from text files.");
    auto flags = std::make_shared<TrainingFlags>();
    add_training_flags(*v, *flags);
    set_examples(*v, {"fovea train --train train.tsv --dev dev.tsv --out run",
                      "fovea train --task summarise --train mail.jsonl --out run --minutes 30",
                      "fovea train --out run --resume"});
    v->callback([v, flags] { run(*v, *flags); });
}

}  // namespace fovea
