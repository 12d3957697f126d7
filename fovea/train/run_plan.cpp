#include "fovea/train/run_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/error.h"

namespace fovea {

std::string budget_text(const Budget& b) {
    std::string text;
    const auto add = [&](const char* name, const auto& n) {
        if (n > 0) text += text_of(text.empty() ? "" : ", ", name, " ", n);
    };
    add("steps", b.steps);
    add("epochs", b.epochs);
    add("minutes", b.minutes);
    return text;
}

RunPlan plan_run(const Budget& budget, std::int64_t updates_per_epoch, const RunCost& cost,
                 std::int64_t usual_warmup) {
    expect(updates_per_epoch > 0, "plan: an epoch of ", updates_per_epoch, " updates");
    constexpr auto unbounded = std::numeric_limits<std::int64_t>::max();
    const auto as_count = [](double n) {
        return n >= 9e15 ? std::int64_t{9'000'000'000'000'000} : static_cast<std::int64_t>(n);
    };
    // Evaluations take their share of every update's time.
    const double each = cost.update_seconds +
                        (cost.evaluate_every > 0
                             ? cost.evaluation_seconds / static_cast<double>(cost.evaluate_every)
                             : 0.0);
    std::int64_t updates = unbounded;
    if (budget.steps > 0) updates = std::min(updates, budget.steps);
    if (budget.epochs > 0)
        updates = std::min(updates, as_count(static_cast<double>(budget.epochs) *
                                             static_cast<double>(updates_per_epoch)));
    if (budget.minutes > 0) {
        expect(each > 0, "plan: minutes without the time an update takes");
        updates =
            std::min(updates, std::max<std::int64_t>(1, as_count(budget.minutes * 60 / each)));
    }
    if (updates == unbounded)
        fail_with(ErrorKind::usage, "give --steps, --epochs or --minutes", "train: no budget");
    return {updates, std::min(usual_warmup, updates / 10), static_cast<double>(updates) * each};
}

Schedule with_plan(Schedule schedule, const RunPlan& plan) {
    if (schedule.warmup < 0) schedule.warmup = plan.warmup;
    if (schedule.total <= 0) schedule.total = plan.updates;
    return schedule;
}

}  // namespace fovea
