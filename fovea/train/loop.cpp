#include "fovea/train/loop.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/tensor/memory.h"
#include "fovea/train/averaging.h"
#include "fovea/train/metrics_log.h"
#include "fovea/train/snapshot.h"
#include "fovea/train/tensorboard.h"

namespace fovea {
namespace {

constexpr std::uint32_t dropout_purpose = 0x64726f70;

class Loop {
public:
    Loop(const TrainTask& task, const TrainOptions& options, const TrainEvents& events)
        : task_(task),
          options_(options),
          events_(events),
          adam_(*task.store, options.adam),
          dropout_(options.seed, dropout_purpose),
          folder_(options.out, {.keep_last = options.keep}) {
        if (options.ema > 0) average_.emplace(*task.store, options.ema);
        folder_.check_space(snapshot().bytes());
        if (options.resume) resume();
        log_.emplace(join_path(options.out, "metrics.jsonl"), state_.step);
        board_.emplace(join_path(options.out, "events"));
        if (!task.config_text.empty())
            write_file_atomically(join_path(options.out, "config.toml"), task.config_text);
    }

    TrainResult run() {
        const Stopwatch clock;
        before_ = state_.wall_seconds;
        clock_ = &clock;
        reset_memory_peak();
        TrainEnd end = TrainEnd::finished;
        end = epochs();
        if (end != TrainEnd::interrupted) {
            if (!has_best()) save_model();
            save(Failure::ends_the_run);
        }
        TrainResult r;
        r.end = end;
        r.step = state_.step;
        r.last_loss = last_loss_;
        if (has_best()) r.best_metric = state_.best_value;
        r.seconds = state_.wall_seconds;
        r.tokens = state_.tokens_seen;
        r.signal = events_.stop ? events_.stop->load() : 0;
        return r;
    }

private:
    Snapshot snapshot() { return {*task_.store, adam_, average_ ? &*average_ : nullptr}; }

    void resume() {
        const std::optional<OpenCheckpoint> found = folder_.resume();
        for (const RejectedCheckpoint& r : folder_.rejected())
            say("checkpoint " + r.folder + " passed over: " + r.reason);
        if (!found) {
            say("no checkpoint in " + options_.out + ": starts from the beginning");
            return;
        }
        const std::string now = to_text(task_.fingerprint);
        if (found->state.data_fingerprint != now && !options_.allow_data_change)
            throw Error(
                options_.out + ": was trained on other data, with another vocabulary or --seed",
                ErrorKind::bad_input,
                "give the same files and flags (they stand in config.toml), or --allow-data-change "
                "to go on all the same");
        snapshot().restore(*found);
        state_ = found->state;
        dropout_ = state_.dropout_rng.make();
        saved_step_ = state_.step;
        say(text_of("goes on from ", found->folder, ", step ", state_.step));
    }

    TrainEnd epochs() {
        for (;;) {
            if (options_.epochs > 0 && state_.epoch >= options_.epochs) return TrainEnd::finished;
            const std::int64_t batches = task_.begin_epoch(state_.epoch);
            expect(batches > 0, "train: epoch ", state_.epoch + 1, " has no batch");
            const Stopwatch epoch_clock;
            while (state_.next_index < batches) {
                if (budget_is_spent()) return TrainEnd::finished;
                update(batches);
                if (events_.stop && events_.stop->load() != 0) {
                    save(Failure::ends_the_run);
                    return TrainEnd::interrupted;
                }
                // The epoch's last update is evaluated and saved below, with the epoch's row.
                if (state_.next_index < batches && periodic(false) == Verdict::stop)
                    return TrainEnd::stopped_early;
            }
            if (events_.epoch)
                events_.epoch(state_.epoch,
                              state_.loss_sum /
                                  std::max<double>(1.0, static_cast<double>(state_.loss_tokens)),
                              epoch_clock.seconds());
            state_.loss_sum = 0;
            state_.loss_tokens = 0;
            ++state_.epoch;
            state_.next_index = 0;
            if (periodic(true) == Verdict::stop) return TrainEnd::stopped_early;
        }
    }

    bool budget_is_spent() const {
        return (options_.steps > 0 && state_.step >= options_.steps) ||
               (options_.minutes > 0 && seconds() >= options_.minutes * 60);
    }

    double seconds() const { return before_ + clock_->seconds(); }

    // One update: the mean loss over the tokens of `accumulate` batches.
    void update(std::int64_t batches) {
        const Stopwatch clock;
        const std::int64_t end = std::min(batches, state_.next_index + options_.accumulate);
        std::int64_t total = 0;
        for (std::int64_t b = state_.next_index; b < end; ++b) total += task_.batch_tokens(b);
        Gradients gradients;
        double loss = 0;
        for (std::int64_t b = state_.next_index; b < end; ++b) {
            Tape tape(dropout_);
            const double share = static_cast<double>(task_.batch_tokens(b)) /
                                 static_cast<double>(std::max<std::int64_t>(total, 1));
            Tensor mean = task_.loss(b);
            loss += share * mean.item();
            if (end - state_.next_index > 1) mean = static_cast<float>(share) * mean;
            if (end - state_.next_index > 1)
                gradients += tape.gradients(mean);
            else
                gradients = tape.gradients(mean);
        }
        const double norm = adam_.gradient_norm(gradients);
        state_.next_index = end;
        ++state_.step;
        const double rate = options_.schedule.at(state_.step);
        if (std::isfinite(loss) && std::isfinite(norm)) {
            const double factor =
                options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1.0;
            adam_.step(gradients, rate, static_cast<float>(factor));
            if (average_) average_->update(*task_.store);
            state_.skipped_in_a_row = 0;
            state_.loss_sum += loss * static_cast<double>(total);
            state_.loss_tokens += total;
            smooth_loss() = state_.step == 1 ? loss : 0.98 * smooth_loss() + 0.02 * loss;
        } else {
            skip(loss, norm);
        }
        last_loss_ = loss;
        state_.tokens_seen += total;
        state_.dropout_rng = RngState::of(dropout_);
        state_.wall_seconds = seconds();
        report(loss, norm, rate, total, batches, clock.seconds());
    }

    void skip(double loss, double norm) {
        ++state_.skipped_steps;
        ++state_.skipped_in_a_row;
        say(text_of("step ", state_.step, ": the ", std::isfinite(loss) ? "gradient" : "loss",
                    " is not finite (loss ", loss, ", gradient norm ", norm, "); update skipped"));
        if (state_.skipped_in_a_row >= options_.max_bad_steps)
            throw Error(text_of("train: ", state_.skipped_in_a_row,
                                " updates in a row had a loss or gradient that is not finite"),
                        ErrorKind::failed,
                        "checkpoints saved before are whole; a lower --lr or --clip 1 often helps");
    }

    void report(double loss, double norm, double rate, std::int64_t tokens, std::int64_t batches,
                double took) {
        log_->add({{"step", state_.step},
                   {"epoch", state_.epoch},
                   {"loss", number(loss)},
                   {"lr", rate},
                   {"grad_norm", number(norm)},
                   {"tokens", state_.tokens_seen}});
        const double speed = static_cast<double>(tokens) / std::max(took, 1e-9);
        speed_ = speed_ == 0 ? speed : 0.95 * speed_ + 0.05 * speed;
        if (state_.step % 10 == 0) {
            board_->scalar("train/loss", loss, state_.step);
            board_->scalar("train/lr", rate, state_.step);
            board_->scalar("train/grad_norm", norm, state_.step);
            board_->scalar("train/tokens_per_second", speed_, state_.step);
        }
        if (!events_.step) return;
        StepReport r;
        r.step = state_.step;
        r.epoch = state_.epoch;
        r.batch = state_.next_index;
        r.batches = batches;
        r.loss = loss;
        r.smooth_loss = smooth_loss();
        r.rate = rate;
        r.gradient_norm = norm;
        r.tokens_per_second = speed_;
        r.memory = memory_stats().peak;
        r.progress = progress(batches);
        if (r.progress > 0) r.seconds_left = seconds() * (1 - r.progress) / r.progress;
        events_.step(r);
    }

    double progress(std::int64_t batches) const {
        double p = 0;
        if (options_.steps > 0)
            p = static_cast<double>(state_.step) / static_cast<double>(options_.steps);
        if (options_.epochs > 0)
            p = std::max(p,
                         (static_cast<double>(state_.epoch) +
                          static_cast<double>(state_.next_index) / static_cast<double>(batches)) /
                             static_cast<double>(options_.epochs));
        if (options_.minutes > 0) p = std::max(p, seconds() / (options_.minutes * 60));
        return std::min(p, 1.0);
    }

    static Json number(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

    enum class Verdict { go_on, stop };

    // Evaluation and checkpoint, when due.
    Verdict periodic(bool epoch_end) {
        const auto due = [&](std::int64_t every) {
            return every > 0 ? state_.step % every == 0 : epoch_end;
        };
        Verdict verdict = Verdict::go_on;
        if (task_.evaluate && due(options_.eval_every)) verdict = evaluate();
        if (due(options_.save_every) || verdict == Verdict::stop) save();
        return verdict;
    }

    Verdict evaluate() {
        if (average_) average_->swap(*task_.store);
        const Evaluation e = task_.evaluate();
        const bool best = !has_best() || (e.higher_is_better ? e.value > state_.best_value
                                                             : e.value < state_.best_value);
        if (best) {
            state_.best_metric = e.name;
            state_.best_value = e.value;
            state_.best_step = state_.step;
            state_.evaluations_without_gain = 0;
            task_.save_model(join_path(options_.out, "model"));
        } else {
            ++state_.evaluations_without_gain;
        }
        if (average_) average_->swap(*task_.store);
        Json line{{"step", state_.step},
                  {"epoch", state_.epoch},
                  {"eval", e.name},
                  {"value", e.value},
                  {"best", best}};
        line.update(e.extra);
        log_->add(line);
        board_->scalar("eval/" + e.name, e.value, state_.step);
        if (events_.evaluation) events_.evaluation(e, best, state_.step);
        return options_.patience > 0 && state_.evaluations_without_gain >= options_.patience
                   ? Verdict::stop
                   : Verdict::go_on;
    }

    void save_model() {
        if (average_) average_->swap(*task_.store);
        task_.save_model(join_path(options_.out, "model"));
        if (average_) average_->swap(*task_.store);
    }

    enum class Failure { is_survived, ends_the_run };

    // A failed save is told and survived twice: the old checkpoints are there. The third ends the
    // run before more work is lost, and so does the failure of the last save of a run.
    void save(Failure failure = Failure::is_survived) {
        if (state_.step == saved_step_) return;
        log_->sync();
        state_.wall_seconds = seconds();
        state_.data_fingerprint = to_text(task_.fingerprint);
        try {
            const SaveReport report = folder_.save(snapshot().of_state(state_));
            for (const std::string& w : report.warnings) say("warning: " + w);
            saved_step_ = state_.step;
            if (has_best() && state_.best_step == state_.step)
                folder_.mark_best(state_.step, state_.best_metric, state_.best_value);
        } catch (const Error& e) {
            const char* const way_out =
                "earlier checkpoints are whole; free some space and --resume";
            if (failure == Failure::ends_the_run)
                throw Error(text_of("train: the checkpoint of step ", state_.step,
                                    " could not be saved: ", e.what()),
                            ErrorKind::failed, way_out);
            if (folder_.failures_in_a_row() >= 3)
                throw Error(
                    text_of("train: three checkpoints in a row could not be saved: ", e.what()),
                    ErrorKind::failed, way_out);
            say(text_of("WARNING: checkpoint of step ", state_.step, " not saved: ", e.what(),
                        " (the earlier ones are whole; training goes on)"));
        }
    }

    bool has_best() const { return !state_.best_metric.empty(); }
    double& smooth_loss() { return state_.metric_sums["smooth_loss"]; }

    void say(const std::string& message) const {
        if (events_.message) events_.message(message);
    }

    const TrainTask& task_;
    const TrainOptions& options_;
    const TrainEvents& events_;
    AdamW adam_;
    Rng dropout_;
    CheckpointFolder folder_;
    TrainState state_;
    std::optional<MovingAverage> average_;
    std::optional<MetricsLog> log_;
    std::optional<TensorBoard> board_;
    const Stopwatch* clock_ = nullptr;
    double before_ = 0, speed_ = 0, last_loss_ = 0;
    std::int64_t saved_step_ = -1;
};

}  // namespace

TrainResult train(const TrainTask& task, const TrainOptions& options, const TrainEvents& events) {
    expect(options.accumulate >= 1, "train: --accumulate is ", options.accumulate);
    if (options.steps <= 0 && options.epochs <= 0 && options.minutes <= 0)
        fail_with(ErrorKind::usage, "give --steps, --epochs or --minutes", "train: no budget");
    options.schedule.check();
    make_folders(options.out);
    return Loop(task, options, events).run();
}

}  // namespace fovea
