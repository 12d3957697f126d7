#include "fovea/train/run_plan.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(RunPlan, EveryKindOfBudgetBecomesUpdates) {
    EXPECT_EQ(plan_run({.steps = 240}, 100, {}, 4000).updates, 240);
    EXPECT_EQ(plan_run({.epochs = 3}, 100, {}, 4000).updates, 300);
    EXPECT_EQ(plan_run({.minutes = 2}, 100, {.update_seconds = 0.5}, 4000).updates, 240);
    // the first that is reached
    EXPECT_EQ(plan_run({.steps = 240, .epochs = 2}, 100, {}, 4000).updates, 200);
    EXPECT_EQ(plan_run({.steps = 50, .minutes = 2}, 100, {.update_seconds = 0.5}, 1).updates, 50);
    // slower than the whole budget: still one update
    EXPECT_EQ(plan_run({.minutes = 1}, 100, {.update_seconds = 1000}, 4000).updates, 1);
    EXPECT_THROW(plan_run({}, 100, {.update_seconds = 1}, 4000), Error);
    EXPECT_THROW(plan_run({.minutes = 1}, 100, {}, 4000), Error);
}

TEST(RunPlan, EvaluationsTakeTheirShareOfTheMinutes) {
    const RunCost cost{.update_seconds = 0.5, .evaluation_seconds = 25, .evaluate_every = 50};
    const RunPlan plan = plan_run({.minutes = 2}, 100, cost, 4000);
    EXPECT_EQ(plan.updates, 120);
    EXPECT_NEAR(plan.seconds, 120, 1e-9);
}

TEST(RunPlan, WarmUpIsATenthOfShortRunsAndTheUsualOneOfLongOnes) {
    EXPECT_EQ(plan_run({.steps = 300}, 100, {}, 1000).warmup, 30);
    EXPECT_EQ(plan_run({.steps = 100000}, 100, {}, 1000).warmup, 1000);
    EXPECT_EQ(plan_run({.steps = 5}, 100, {}, 1000).warmup, 0);
}

TEST(RunPlan, ASchedulesOpenFieldsAreFilledAndGivenOnesStay) {
    const RunPlan plan = plan_run({.steps = 300}, 100, {}, 1000);
    const Schedule open = with_plan({.peak = 1}, plan);
    EXPECT_EQ(open.warmup, 30);
    EXPECT_EQ(open.total, 300);
    EXPECT_DOUBLE_EQ(open.at(30), 1);   // the full rate is reached
    EXPECT_DOUBLE_EQ(open.at(300), 0);  // and left again
    const Schedule given = with_plan({.peak = 1, .warmup = 0, .total = 500}, plan);
    EXPECT_EQ(given.warmup, 0);
    EXPECT_EQ(given.total, 500);
}

TEST(RunPlan, TheTextOfABudget) {
    EXPECT_EQ(budget_text({.steps = 7, .minutes = 0.5}), "steps 7, minutes 0.5");
    EXPECT_EQ(budget_text({}), "");
}

}  // namespace
}  // namespace fovea
