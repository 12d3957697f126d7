#pragma once
// From a budget (updates, epochs, minutes) to a number of updates, before the first one: warm-up
// and schedule follow it, and nothing that is computed asks a clock.
// Thread-safety: pure functions over plain values.
#include <cstdint>
#include <string>

#include "fovea/train/schedule.h"

namespace fovea {

struct Budget {  // the first that is reached ends the run; 0: no bound
    std::int64_t steps = 0, epochs = 0;
    double minutes = 0;
};

// "steps 100, minutes 5": two runs with the same text have the same budget.
std::string budget_text(const Budget& budget);

// What the parts of a run take, measured or guessed.
struct RunCost {
    double update_seconds = 0;
    double evaluation_seconds = 0;
    std::int64_t evaluate_every = 0;  // updates; 0: never
};

struct RunPlan {
    std::int64_t updates = 0;  // of the whole run; the schedule ends with it
    std::int64_t warmup = 0;
    double seconds = 0;  // 0: nobody measured
};

// `usual_warmup` is what the model takes when there is time: it is cut to a tenth of the run, so
// that a run of a minute reaches its full rate and has nine tenths left to come down from it.
RunPlan plan_run(const Budget& budget, std::int64_t updates_per_epoch, const RunCost& cost,
                 std::int64_t usual_warmup);

// Fills in what the schedule leaves open.
Schedule with_plan(Schedule schedule, const RunPlan& plan);

}  // namespace fovea
