#pragma once
// Which of a run's models is kept: the best on the dev set by the task's metric, and by the dev
// loss where the metric cannot tell two apart.
// Thread-safety: pure functions over plain values.
#include <cstdint>
#include <string>

#include "fovea/base/json.h"
#include "fovea/train/train_state.h"

namespace fovea {

// The metric of one evaluation; extra figures go to the logs.
struct Evaluation {
    std::string name;  // e.g. "BLEU"
    double value = 0;
    bool higher_is_better = true;
    double loss = 0;  // mean loss on the dev set, without dropout and smoothing
    Json extra = Json::object();
    bool rough = false;  // of too few records to choose a model by: the later one is kept
};

// Better than the best so far? Of two equal values the lower loss wins, of two equal losses the
// later model, which has seen more. So a metric that stays at zero leaves the choice to the loss.
// A value or loss that is not finite is never better. Of rough ones the later wins: the best of
// thirty values over a handful of records is the luckiest model, and often an early one.
bool is_better(const Evaluation& evaluation, const TrainState& best_so_far);

// Counts the evaluation, and takes it as the best where it is. True where it is.
bool take_evaluation(const Evaluation& evaluation, TrainState& state);

// Has a metric that rises with quality been zero at every one of at least two evaluations?
bool metric_stays_at_zero(const TrainState& state);

}  // namespace fovea
