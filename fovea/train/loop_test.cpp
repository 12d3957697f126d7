#include "fovea/train/loop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "fovea/base/files.h"
#include "fovea/io/checkpoint_folder.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/run_precision.h"

namespace fovea {
namespace {

// A two-layer classifier of random points, with dropout: everything a run can get wrong.
struct Toy {
    Toy() : params(store, rng), a(8, 33, params / "a"), b(33, 5, params / "b") {}

    Tensor loss(std::int64_t index) const {
        Rng draw(77);
        draw.seek(static_cast<std::uint64_t>(epoch * 1000 + index) * 1000);
        const std::int64_t n = 4 + index % 5;
        Tensor x({n, 8});
        Ids labels;
        float* p = x.write();
        for (std::int64_t i = 0; i < n; ++i) {
            for (int c = 0; c < 8; ++c) p[i * 8 + c] = static_cast<float>(draw.normal());
            labels.push_back(static_cast<std::int32_t>(draw.below(5)));
        }
        if (index == poison) p[3] = std::numeric_limits<float>::quiet_NaN();
        return cross_entropy(b(dropout(a(x, Act::gelu), 0.2f)), labels);
    }

    TrainTask task() {
        TrainTask t;
        t.store = &store;
        t.fingerprint = {{"data", "toy"}};
        t.begin_epoch = [this](std::int64_t e) {
            epoch = e;
            return std::int64_t{13};
        };
        t.batch_tokens = [](std::int64_t i) { return 4 + i % 5; };
        t.loss = [this](std::int64_t i) { return loss(i); };
        t.evaluate = [this] { return Evaluation{"loss", loss(3).item(), false}; };
        t.save_model = [this](const std::string& folder) {
            make_folders(folder);
            ++models_saved;
        };
        return t;
    }

    std::string bits() const {
        std::string all;
        for (const std::string& name : store.names()) {
            const Tensor& t = store.at(name);
            all.append(reinterpret_cast<const char*>(t.data()),
                       static_cast<std::size_t>(t.size()) * 4);
        }
        return all;
    }

    ParameterStore store;
    Rng rng{5};
    Params params;
    Linear a, b;
    std::int64_t epoch = 0, poison = -1;
    int models_saved = 0;
};

std::string folder(const std::string& name) {
    const std::string path = testing::TempDir() + "/fovea_loop_" + name;
    std::filesystem::remove_all(path);
    return path;
}

TrainOptions options(const std::string& out) {
    TrainOptions o;
    o.out = out;
    o.epochs = 2;
    o.save_every = 9;
    o.adam.weight_decay = 0.01f;
    o.schedule = {.peak = 0.01, .warmup = 5};
    return o;
}

// Runs in sittings of `sitting` steps, each resumed by fresh objects, as after a kill.
std::pair<std::string, std::string> run_in_sittings(TrainOptions o, std::int64_t sitting) {
    for (int guard = 0; guard < 100; ++guard) {
        Toy toy;
        std::atomic<int> stop{0};
        std::int64_t steps = 0;
        TrainEvents events;
        events.stop = &stop;
        events.step = [&](const StepReport&) {
            if (++steps == sitting) stop = 2;
        };
        const TrainResult r = train(toy.task(), o, events);
        if (r.end != TrainEnd::interrupted)
            return {toy.bits(), read_file(o.out + "/metrics.jsonl")};
        o.resume = true;
    }
    return {};
}

TEST(TrainLoop, ResumingGivesTheBitsOfTheUninterruptedRun) {
    for (const std::string kind : {"plain", "accumulate", "ema", "bf16"}) {
        TrainOptions o = options(folder("whole_" + kind));
        if (kind == "accumulate") o.accumulate = 3;
        if (kind == "ema") o.ema = 0.9;
        if (kind == "bf16") set_run_precision("bf16");
        const auto whole = run_in_sittings(o, 1000000);
        const std::vector<std::int64_t> sittings =
            kind == "plain" ? std::vector<std::int64_t>{1, 13} : std::vector<std::int64_t>{5};
        for (const std::int64_t sitting : sittings) {
            o.out = folder(text_of("parts_", kind, sitting));
            const auto parts = run_in_sittings(o, sitting);
            EXPECT_TRUE(whole.first == parts.first) << kind << ", sittings of " << sitting;
            EXPECT_EQ(whole.second, parts.second) << kind << ", sittings of " << sitting;
        }
        set_run_precision("f32");
    }
}

TEST(TrainLoop, ANonFiniteLossIsSkippedAndNeverSaved) {
    Toy toy;
    toy.poison = 2;
    TrainOptions o = options(folder("nan"));
    o.epochs = 1;
    std::string said;
    TrainEvents events;
    events.message = [&](const std::string& m) { said += m + "\n"; };
    const TrainResult r = train(toy.task(), o, events);
    EXPECT_EQ(r.step, 13);
    EXPECT_NE(said.find("not finite"), std::string::npos) << said;
    for (const std::string& name : toy.store.names())
        for (const float v : toy.store.at(name).span()) ASSERT_TRUE(std::isfinite(v));
}

TEST(TrainLoop, ManyBadStepsInARowEndTheRun) {
    Toy toy;
    TrainTask task = toy.task();
    task.loss = [&](std::int64_t) {
        Tensor x = Tensor::full({1, 8}, std::numeric_limits<float>::infinity());
        return cross_entropy(toy.b(toy.a(x)), {0});
    };
    TrainOptions o = options(folder("bad"));
    o.max_bad_steps = 3;
    EXPECT_THROW(train(task, o, {}), Error);
}

TEST(TrainLoop, BudgetsPatienceAndBest) {
    Toy toy;
    TrainOptions o = options(folder("steps"));
    o.steps = 7;
    EXPECT_EQ(train(toy.task(), o, {}).step, 7);
    EXPECT_EQ(toy.models_saved, 1);

    Toy worse;
    TrainTask task = worse.task();
    int calls = 0;
    task.evaluate = [&] { return Evaluation{"x", static_cast<double>(-calls++), true}; };
    o = options(folder("patience"));
    o.epochs = 50;
    o.patience = 2;
    const TrainResult r = train(task, o, {});
    EXPECT_EQ(r.end, TrainEnd::stopped_early);
    EXPECT_EQ(r.step, 3 * 13);
    EXPECT_EQ(*r.best_metric, 0.0);

    TrainOptions none = options(folder("none"));
    none.epochs = 0;
    EXPECT_THROW(train(toy.task(), none, {}), Error);
}

TEST(TrainLoop, OtherDataAreRefusedOnResume) {
    TrainOptions o = options(folder("data"));
    o.epochs = 1;
    {
        Toy toy;
        train(toy.task(), o, {});
    }
    Toy toy;
    TrainTask task = toy.task();
    task.fingerprint = {{"data", "other"}};
    o.resume = true;
    o.epochs = 2;
    EXPECT_THROW(train(task, o, {}), Error);
    o.allow_data_change = true;
    EXPECT_EQ(train(task, o, {}).step, 26);
}

}  // namespace
}  // namespace fovea
