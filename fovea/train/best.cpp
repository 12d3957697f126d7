#include "fovea/train/best.h"

#include <cmath>

namespace fovea {

bool is_better(const Evaluation& e, const TrainState& s) {
    if (!std::isfinite(e.value) || !std::isfinite(e.loss)) return false;
    if (s.best_metric.empty() || s.best_metric != e.name) return true;
    if (e.value != s.best_value)
        return e.higher_is_better ? e.value > s.best_value : e.value < s.best_value;
    return e.loss <= s.best_loss;
}

bool take_evaluation(const Evaluation& e, TrainState& s) {
    const bool better = is_better(e, s);
    s.evaluated_step = s.step;
    ++s.evaluations;
    if (e.higher_is_better && e.value == 0) ++s.evaluations_at_zero;
    s.evaluations_without_gain = better ? 0 : s.evaluations_without_gain + 1;
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
