#include "fovea/tasks/multi.h"

#include <gtest/gtest.h>

#include "fovea/autograd/tape.h"
#include "fovea/base/error.h"
#include "fovea/nn/params.h"
#include "fovea/ops/arithmetic.h"

namespace fovea {
namespace {

// A task whose loss is a parameter times a number, and which writes down what it was asked.
struct ToyTask {
    ToyTask(std::int64_t count, const Tensor& body, float factor) : batches(count) {
        store.put("body", body);
        Tensor head = Tensor::of({1}, std::vector<float>{factor});
        head.set_trainable(true);
        store.put("head", head);
    }

    TrainTask task() {
        TrainTask t;
        t.store = &store;
        t.fingerprint = {{"batches", batches}};
        t.begin_epoch = [this](std::int64_t epoch) {
            pass = epoch;
            return batches;
        };
        t.batch_weight = [](std::int64_t) { return 1; };
        t.loss = [this](std::int64_t b) {
            asked.push_back({pass, b});
            return mul(store.at("body"), store.at("head"));
        };
        t.guessing_loss = 1;
        return t;
    }

    std::int64_t batches = 0, pass = -1;
    ParameterStore store;
    std::vector<std::pair<std::int64_t, std::int64_t>> asked;
};

Tensor shared_body() {
    Tensor body = Tensor::of({1}, std::vector<float>{2.0f});
    body.set_trainable(true);
    return body;
}

using Asked = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(TaskMix, BatchesComeByTheirShares) {
    const Tensor body = shared_body();
    ToyTask main(4, body, 1), rare(10, body, 1), often(3, body, 1);
    TaskMix mix({{"main", main.task()},
                 {.name = "rare", .task = rare.task(), .share = 0.5},
                 {.name = "often", .task = often.task(), .share = 2}});
    const TrainTask t = mix.task();
    ASSERT_EQ(t.begin_epoch(3), 4);
    for (std::int64_t step = 0; step < 4; ++step) t.loss(step);
    EXPECT_EQ(main.asked, (Asked{{3, 0}, {3, 1}, {3, 2}, {3, 3}}));
    EXPECT_EQ(rare.asked, (Asked{{3, 0}, {3, 1}}));
    // eight batches of three: the data are gone through again, in passes of other numbers
    const std::int64_t second = 3 + (1 << 20), third = 3 + (2 << 20);
    EXPECT_EQ(often.asked, (Asked{{3, 0},
                                  {3, 1},
                                  {3, 2},
                                  {second, 0},
                                  {second, 1},
                                  {second, 2},
                                  {third, 0},
                                  {third, 1}}));
}

TEST(TaskMix, ARunThatIsResumedAsksForTheSame) {
    const auto asked_from = [](std::int64_t first) {
        const Tensor body = shared_body();
        ToyTask main(5, body, 1), other(2, body, 1);
        TaskMix mix({{"main", main.task()}, {"other", other.task()}});
        const TrainTask t = mix.task();
        t.begin_epoch(1);
        for (std::int64_t step = first; step < 5; ++step) t.loss(step);
        return other.asked;
    };
    const Asked whole = asked_from(0), rest = asked_from(3);
    EXPECT_EQ(Asked(whole.begin() + 3, whole.end()), rest);
}

TEST(TaskMix, LossesAreWeightedAndTheBodyIsOne) {
    const Tensor body = shared_body();
    ToyTask main(1, body, 3), other(1, body, 5);
    TaskMix mix({{"main", main.task()}, {.name = "other", .task = other.task(), .weight = 0.5}});
    EXPECT_EQ(mix.store().names(), (std::vector<std::string>{"body", "head", "tasks.other.head"}));
    const TrainTask t = mix.task();
    t.begin_epoch(0);
    Tape tape;
    const Tensor loss = t.loss(0);
    EXPECT_FLOAT_EQ(loss.item(), 2 * 3 + 0.5f * 2 * 5);
    const Gradients g = tape.gradients(loss);
    EXPECT_FLOAT_EQ(g[body].item(), 3 + 0.5f * 5);  // both tasks teach it
    EXPECT_FLOAT_EQ(g[other.store.at("head")].item(), 0.5f * 2);
    EXPECT_DOUBLE_EQ(t.guessing_loss, 1.5);
}

TEST(TaskMix, ARateIsThatOfATasksOwnParameters) {
    const Tensor body = shared_body();
    ToyTask main(1, body, 3), other(1, body, 5);
    TrainTask slow = main.task();
    slow.parameter_rules = [](const std::string& name) {
        ParameterRule r;
        r.rate_factor = name == "body" ? 0.1 : 1;
        r.frozen = name == "head";
        return r;
    };
    TaskMix mix({{.name = "main", .task = slow, .rate = 7},
                 {.name = "other", .task = other.task(), .rate = 4}});
    const TrainTask t = mix.task();
    EXPECT_DOUBLE_EQ(t.parameter_rules("body").rate_factor, 0.1);  // shared: the first task's rule
    EXPECT_DOUBLE_EQ(t.parameter_rules("head").rate_factor, 7);
    EXPECT_TRUE(t.parameter_rules("head").frozen);
    EXPECT_DOUBLE_EQ(t.parameter_rules("tasks.other.head").rate_factor, 4);
}

TEST(TaskMix, FiguresOfAllAndTheFirstDecides) {
    const Tensor body = shared_body();
    ToyTask main(1, body, 3), other(1, body, 5);
    TrainTask a = main.task(), b = other.task();
    a.evaluate = [] { return Evaluation{"F1", 80, true, 0.5}; };
    b.evaluate = [] { return Evaluation{"accuracy", 60, true, 0.25}; };
    TaskMix mix({{"main", a}, {"other", b}});
    const Evaluation first = mix.task().evaluate();
    EXPECT_EQ(first.name, "F1");
    EXPECT_EQ(first.value, 80);
    EXPECT_EQ(first.extra["other"]["value"], 60.0);
    const Evaluation mean = mix.task("mean").evaluate();
    EXPECT_EQ(mean.name, "mean");
    EXPECT_EQ(mean.value, 70);
    std::vector<std::string> saved;
    a.save_model = [&](const std::string& path) { saved.push_back(path); };
    b.save_model = a.save_model;
    TaskMix with({{"main", a}, {"other", b}});
    with.task().save_model("run/model");
    EXPECT_EQ(saved, (std::vector<std::string>{"run/model", "run/models/other"}));
    EXPECT_THROW(TaskMix({{"main", a}, {"main", b}}), Error);
}

}  // namespace
}  // namespace fovea
