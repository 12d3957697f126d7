#include "fovea/train/best.h"

#include <cmath>

namespace fovea {

namespace {

bool is_finite(const Evaluation& e) { return std::isfinite(e.value) && std::isfinite(e.loss); }

bool gains(const Evaluation& e, const TrainState& s) {
    if (s.best_metric.empty() || s.best_metric != e.name) return true;
    if (e.value != s.best_value)
        return e.higher_is_better ? e.value > s.best_value : e.value < s.best_value;
    return e.loss <= s.best_loss;
}

}  // namespace

bool is_better(const Evaluation& e, const TrainState& s) {
    return is_finite(e) && (e.rough || gains(e, s));
}

bool take_evaluation(const Evaluation& e, TrainState& s) {
    const bool better = is_better(e, s);
    s.evaluated_step = s.step;
    ++s.evaluations;
    if (e.higher_is_better && e.value == 0) ++s.evaluations_at_zero;
    s.evaluations_without_gain = better && gains(e, s) ? 0 : s.evaluations_without_gain + 1;
    if (!better) return false;
    s.best_metric = e.name;
    s.best_value = e.value;
    s.best_loss = e.loss;
    s.best_step = s.step;
    return true;
}

bool metric_stays_at_zero(const TrainState& s) {
    return s.evaluations >= 2 && s.evaluations_at_zero == s.evaluations;
}

}  // namespace fovea
