#include "fovea/train/loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/tensor/memory.h"
#include "fovea/train/averaging.h"
#include "fovea/train/run_checkpoints.h"
#include "fovea/train/run_log.h"

namespace fovea {
namespace {

constexpr std::uint32_t dropout_purpose = 0x64726f70;

// Minutes are turned into updates beforehand; this is how much longer those may take.
constexpr double patience_with_the_clock = 1.5;

// A smoothed loss beyond 1.25 · max(first, guessing) + 0.5 is worse than knowing nothing. Seen for
// so many updates in a row the run is given up; for fewer at its end, that is said.
constexpr std::int64_t exploded_long_enough = 200, exploded_at_the_end = 10;

std::string new_run_id() {
    std::random_device device;  // never part of what is computed
    return fmt::format("{:08x}{:08x}", device(), device());
}

class Loop {
public:
    Loop(const TrainTask& task, TrainOptions options, const TrainEvents& events)
        : task_(task),
          options_(std::move(options)),
          events_(events),
          adam_(*task.store, options_.adam, task.parameter_rules),
          average_(average_of(task, options_)),
          dropout_(options_.seed, dropout_purpose),
          checkpoints_(options_, snapshot().bytes(), [this](const std::string& m) { say(m); }) {
        expect(!adam_.slots().empty() || task.own_update,
               "optimizer: the model has no trainable parameter");
        state_.run = new_run_id();
        state_.data_fingerprint = to_text(task_.fingerprint);
        if (options_.resume) resume();
        state_.budget = budget_text(options_.budget());
        state_.planned_updates = options_.planned_updates;
        state_.planned_warmup = options_.schedule.warmup;
        log_.emplace(options_.out, state_);
        if (!task.config_text.empty())
            write_file_atomically(join_path(options_.out, "config.toml"), task.config_text);
        before_ = state_.wall_seconds;
    }

    TrainResult run() {
        reset_memory_peak();
        TrainEnd end = epochs();
        if (end != TrainEnd::interrupted) {
            if (end != TrainEnd::exploded && state_.exploded_in_a_row >= exploded_at_the_end)
                end = TrainEnd::exploded;
            finish(end);
        }
        TrainResult r;
        r.end = end;
        r.step = state_.step;
        r.first_loss = state_.first_loss;
        r.smooth_loss = state_.smooth_loss;
        r.last_loss = last_loss_;
        r.metric = state_.best_metric;
        if (has_best()) r.best_metric = state_.best_value;
        r.model_step = has_best() ? state_.best_step : state_.step;
        r.seconds = state_.wall_seconds;
        r.tokens = state_.tokens_seen;
        r.signal = events_.stop ? events_.stop->load() : 0;
        return r;
    }

private:
    Snapshot snapshot() { return {*task_.store, adam_, average_ ? &*average_ : nullptr}; }

    static std::optional<MovingAverage> average_of(const TrainTask& task, const TrainOptions& o) {
        std::optional<MovingAverage> average;
        if (o.ema > 0) average.emplace(*task.store, o.ema);
        return average;
    }

    void resume() {
        const auto found = checkpoints_.resume(snapshot(), state_.data_fingerprint);
        if (!found) return;
        const std::string fingerprint = state_.data_fingerprint;  // the data may change on purpose
        state_ = *found;
        state_.data_fingerprint = fingerprint;
        dropout_ = state_.dropout_rng.make();
    }

    TrainEnd epochs() {
        for (bool resumed = state_.step > 0;; resumed = false) {
            if (options_.epochs > 0 && state_.epoch >= options_.epochs) return TrainEnd::finished;
            const std::int64_t batches = task_.begin_epoch(state_.epoch);
            expect(batches > 0, "train: epoch ", state_.epoch + 1, " has no batch");
            const Stopwatch epoch_clock;
            // An interrupted run was saved before it could evaluate.
            if (resumed && state_.next_index > 0 && state_.next_index < batches)
                if (const auto end = periodic(false)) return *end;
            while (state_.next_index < batches) {
                if (const auto end = spent()) return *end;
                update(batches);
                if (events_.stop && events_.stop->load() != 0) {
                    save(Moment::end_of_the_run);
                    return TrainEnd::interrupted;
                }
                // The epoch's last update is evaluated and saved below, with the epoch's row.
                if (state_.next_index < batches)
                    if (const auto end = periodic(false)) return *end;
            }
            const double weight =
                static_cast<double>(std::max<std::int64_t>(1, state_.loss_weight));
            if (events_.epoch)
                events_.epoch(state_.epoch + 1, state_.loss_sum / weight, epoch_clock.seconds());
            state_.loss_sum = 0;
            state_.loss_weight = 0;
            ++state_.epoch;
            state_.next_index = 0;
            if (const auto end = periodic(true)) return *end;
        }
    }

    // Is the budget spent? By updates alone, so that the clock decides nothing that is computed.
    std::optional<TrainEnd> spent() const {
        if (options_.steps > 0 && state_.step >= options_.steps) return TrainEnd::finished;
        if (options_.minutes <= 0) return {};
        if (state_.step >= options_.planned_updates) return TrainEnd::finished;
        if (clock_.seconds() >= patience_with_the_clock * 60 * options_.minutes)
            return TrainEnd::out_of_time;
        return {};
    }

    double seconds() const { return before_ + clock_.seconds(); }
    // Of the last update, from 1.
    std::int64_t epoch() const {
        return state_.next_index == 0 && state_.epoch > 0 ? state_.epoch : state_.epoch + 1;
    }

    // One update: the mean loss over `accumulate` batches, by their weights.
    void update(std::int64_t batches) {
        const Stopwatch clock;
        const std::int64_t first = state_.next_index;
        const std::int64_t end = std::min(batches, first + options_.accumulate);
        std::vector<std::int64_t> weights;
        std::int64_t total = 0;
        for (std::int64_t b = first; b < end; ++b) {
            weights.push_back(task_.batch_weight(b));
            total += weights.back();
        }
        state_.next_index = end;
        ++state_.step;
        const double rate = options_.schedule.at(state_.step);
        const auto [loss, norm] =
            task_.own_update ? own_update(first, rate) : adam_update(first, weights, total, rate);
        if (std::isfinite(loss) && std::isfinite(norm))
            count(loss, total);
        else
            skip(loss, norm);
        last_loss_ = loss;
        state_.tokens_seen += total;
        state_.dropout_rng = RngState::of(dropout_);
        state_.wall_seconds = seconds();
        report({.loss = loss, .rate = rate, .gradient_norm = norm}, batches,
               static_cast<double>(total) / std::max(clock.seconds(), 1e-9));
    }

    struct LossAndNorm {
        double loss, norm;
    };

    LossAndNorm own_update(std::int64_t batch, double rate) {
        return {task_.own_update(batch, rate), 0};
    }

    LossAndNorm adam_update(std::int64_t first, const std::vector<std::int64_t>& weights,
                            std::int64_t total, double rate) {
        Gradients gradients;
        double loss = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            Tape tape(dropout_);
            const double share = static_cast<double>(weights[i]) /
                                 static_cast<double>(std::max<std::int64_t>(total, 1));
            Tensor mean = task_.loss(first + static_cast<std::int64_t>(i));
            loss += share * mean.item();
            if (weights.size() > 1)
                gradients += tape.gradients(static_cast<float>(share) * mean);
            else
                gradients = tape.gradients(mean);
        }
        const double norm = adam_.gradient_norm(gradients);
        if (std::isfinite(loss) && std::isfinite(norm)) {
            const double factor =
                options_.clip > 0 && norm > options_.clip ? options_.clip / norm : 1.0;
            adam_.step(gradients, rate, static_cast<float>(factor));
            if (average_) average_->update(*task_.store);
        }
        return {loss, norm};
    }

    void count(double loss, std::int64_t weight) {
        const bool first = state_.step == state_.skipped_steps + 1;
        state_.skipped_in_a_row = 0;
        state_.loss_sum += loss * static_cast<double>(weight);
        state_.loss_weight += weight;
        if (first) state_.first_loss = loss;
        state_.smooth_loss = first ? loss : 0.98 * state_.smooth_loss + 0.02 * loss;
        const double bound = 1.25 * std::max(state_.first_loss, task_.guessing_loss) + 0.5;
        state_.exploded_in_a_row = state_.smooth_loss > bound ? state_.exploded_in_a_row + 1 : 0;
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

    void report(StepReport r, std::int64_t batches, double speed) {
        speed_ = speed_ == 0 ? speed : 0.95 * speed_ + 0.05 * speed;
        r.step = state_.step;
        r.epoch = epoch();
        r.batch = state_.next_index;
        r.batches = batches;
        r.smooth_loss = state_.smooth_loss;
        r.tokens_per_second = speed_;
        r.unit = task_.unit;
        r.tokens = state_.tokens_seen;
        r.memory = memory_stats().peak;
        r.progress = progress(batches);
        log_->add(r);
        if (events_.step) events_.step(r);
    }

    double progress(std::int64_t batches) const {
        double p = 0;
        if (options_.epochs > 0)
            p = (static_cast<double>(state_.epoch) +
                 static_cast<double>(state_.next_index) / static_cast<double>(batches)) /
                static_cast<double>(options_.epochs);
        if (options_.steps > 0 || options_.minutes > 0)
            p = std::max(p, static_cast<double>(state_.step) /
                                static_cast<double>(options_.planned_updates));
        return std::min(p, 1.0);
    }

    // Evaluation and checkpoint, when due. The run's end, where it ends here.
    std::optional<TrainEnd> periodic(bool epoch_end) {
        const auto due = [&](std::int64_t every) {
            return every > 0 ? state_.step % every == 0 : epoch_end;
        };
        const bool regular = due(options_.save_every);
        bool best = false;
        if (task_.evaluate && due(options_.eval_every) && state_.evaluated_step != state_.step)
            best = evaluate();
        std::optional<TrainEnd> end;
        if (options_.patience > 0 && state_.evaluations_without_gain >= options_.patience)
            end = TrainEnd::stopped_early;
        if (state_.exploded_in_a_row >= exploded_long_enough) end = TrainEnd::exploded;
        if (regular || best || end) save(regular || end ? Moment::regular : Moment::new_best);
        return end;
    }

    bool evaluate() {
        if (average_) average_->swap(*task_.store);
        EvaluationReport r{task_.evaluate(), false, state_.step, epoch()};
        if (options_.patience > 0) r.evaluation.rough = false;  // asked to choose
        r.best = take_evaluation(r.evaluation, state_);
        if (r.best) task_.save_model(join_path(options_.out, "model"));
        if (average_) average_->swap(*task_.store);
        log_->add(r);
        if (events_.evaluation) events_.evaluation(r);
        if (state_.evaluations == 3) warn_of_zero();
        return r.best;
    }

    void warn_of_zero() const {
        if (metric_stays_at_zero(state_))
            say("warning: " + state_.best_metric +
                " has been 0 at every evaluation and cannot tell models apart; the dev loss "
                "decides "
                "(another --metric may fit the data better)");
    }

    // There is always a last evaluation, and a model.
    void finish(TrainEnd end) {
        if (task_.evaluate && state_.evaluated_step != state_.step) evaluate();
        if (state_.evaluations < 3) warn_of_zero();
        if (!has_best() && end != TrainEnd::exploded) {
            if (average_) average_->swap(*task_.store);
            task_.save_model(join_path(options_.out, "model"));
            if (average_) average_->swap(*task_.store);
        }
        save(Moment::end_of_the_run);
    }

    using Moment = RunCheckpoints::Moment;
    void save(Moment moment) {
        log_->sync();
        state_.wall_seconds = seconds();
        checkpoints_.save(snapshot(), state_, moment);
    }

    bool has_best() const { return !state_.best_metric.empty(); }

    void say(const std::string& message) const {
        if (events_.message) events_.message(message);
    }

    const TrainTask& task_;
    const TrainOptions options_;
    const TrainEvents& events_;
    AdamW adam_;
    std::optional<MovingAverage> average_;
    Rng dropout_;
    RunCheckpoints checkpoints_;
    TrainState state_;
    std::optional<RunLog> log_;
    const Stopwatch clock_;  // of this sitting
    double before_ = 0, speed_ = 0, last_loss_ = 0;
};

}  // namespace

TrainResult train(const TrainTask& task, const TrainOptions& options, const TrainEvents& events) {
    refuse_old_run(options);
    TrainOptions whole = settled(task, options);
    whole.schedule.check();
    make_folders(whole.out);
    return Loop(task, std::move(whole), events).run();
}

}  // namespace fovea
