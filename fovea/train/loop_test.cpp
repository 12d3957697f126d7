#include "fovea/train/loop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "fovea/base/files.h"
#include "fovea/base/precision.h"
#include "fovea/io/checkpoint_folder.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

// A two-layer classifier of random points and of rows of a table that is updated by rows, with
// dropout: everything a run can get wrong.
struct Toy {
    Toy()
        : params(store, rng),
          a(8, 33, params / "a"),
          b(33, 5, params / "b"),
          table(params.rows("table", {100, 8}, normal(0.1f))) {}

    Tensor loss(std::int64_t index) const {
        Rng draw(77);
        draw.seek(static_cast<std::uint64_t>(epoch * 1000 + index) * 1000);
        const std::int64_t n = 4 + index % 5;
        Tensor x({n, 8});
        Ids labels, rows;
        float* p = x.write();
        for (std::int64_t i = 0; i < n; ++i) {
            for (int c = 0; c < 8; ++c) p[i * 8 + c] = static_cast<float>(draw.normal());
            labels.push_back(static_cast<std::int32_t>(draw.below(5)));
            rows.push_back(static_cast<std::int32_t>(draw.below(100)));
        }
        x.set_row_names(Segments::of_lengths({n}));
        if (index == poison) p[3] = std::numeric_limits<float>::quiet_NaN();
        return cross_entropy(b(dropout(a(x + gather_rows(table, rows), Act::gelu), 0.2f)), labels);
    }

    TrainTask task() {
        TrainTask t;
        t.store = &store;
        t.fingerprint = {{"data", "toy"}};
        t.begin_epoch = [this](std::int64_t e) {
            epoch = e;
            return std::int64_t{13};
        };
        t.batch_weight = [](std::int64_t i) { return 4 + i % 5; };
        t.loss = [this](std::int64_t i) { return loss(i); };
        t.evaluate = [this] { return evaluation(); };
        t.save_model = [this](const std::string& folder) {
            make_folders(folder);
            ++models_saved;
        };
        return t;
    }

    Evaluation evaluation() const {
        const double value = loss(3).item();
        return {"loss", value, false, value};
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
    Tensor table;
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
        const PrecisionScope scope(kind == "bf16" ? Precision::bf16 : Precision::f32);
        const auto whole = run_in_sittings(o, 1000000);
        const std::vector<std::int64_t> sittings =
            kind == "plain" ? std::vector<std::int64_t>{1, 13} : std::vector<std::int64_t>{5};
        for (const std::int64_t sitting : sittings) {
            o.out = folder(text_of("parts_", kind, sitting));
            const auto parts = run_in_sittings(o, sitting);
            EXPECT_TRUE(whole.first == parts.first) << kind << ", sittings of " << sitting;
            EXPECT_EQ(whole.second, parts.second) << kind << ", sittings of " << sitting;
        }
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
    EXPECT_EQ(toy.models_saved, 1);  // the last evaluation's

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

    EXPECT_EQ(r.model_step, 13);

    TrainOptions none = options(folder("none"));
    none.epochs = 0;
    EXPECT_THROW(train(toy.task(), none, {}), Error);
}

TEST(TrainLoop, TheBestBetweenTwoCheckpointsIsKeptAndMarked) {
    Toy toy;
    TrainTask task = toy.task();
    int calls = 0;  // best at the second of six evaluations
    task.evaluate = [&] { return Evaluation{"x", -std::abs(calls++ - 1.0), true, 1}; };
    TrainOptions o = options(folder("best"));
    o.epochs = 1;
    o.eval_every = 2;
    o.save_every = 5;
    o.keep = 1;
    const TrainResult r = train(task, o, {});
    EXPECT_EQ(calls, 7);  // 2, 4 … 12, and the last one
    EXPECT_EQ(r.model_step, 4);
    EXPECT_EQ(checkpoint_steps(o.out), (std::vector<std::int64_t>{4, 13}));
    EXPECT_EQ(read_json(o.out + "/BEST")["step"], 4);
}

TEST(TrainLoop, ForceStartsCleanAndTwoRunsHaveTwoIds) {
    TrainOptions o = options(folder("force"));
    o.epochs = 1;
    const auto run_id = [&] {
        Toy toy;
        train(toy.task(), o, {});
        return open_checkpoint(checkpoint_path(o.out, checkpoint_steps(o.out).back())).manifest.run;
    };
    const std::string first = run_id();
    EXPECT_THROW(run_id(), Error);
    o.force = true;
    o.save_every = 4;
    EXPECT_NE(run_id(), first);
    EXPECT_EQ(checkpoint_steps(o.out), (std::vector<std::int64_t>{4, 8, 12, 13}));
    o.resume = true;  // wins
    o.epochs = 2;
    const std::string third = run_id();
    EXPECT_EQ(open_checkpoint(checkpoint_path(o.out, 26)).manifest.run, third);
}

TEST(TrainLoop, MinutesAreUpdatesBeforeTheFirstOneAndStayWhenResumed) {
    TrainOptions o = options(folder("minutes"));
    o.epochs = 0;
    o.minutes = 0.002;
    o.schedule.warmup = -1;
    Toy toy;
    const TrainOptions planned = settled(toy.task(), o);
    EXPECT_GT(planned.planned_updates, 0);
    EXPECT_EQ(planned.schedule.total, planned.planned_updates);
    EXPECT_EQ(planned.schedule.warmup, planned.planned_updates / 10);
    EXPECT_EQ(toy.bits(), Toy().bits());  // measuring changes nothing

    o.minutes = 5;
    o.planned_updates = 40;
    const auto whole = run_in_sittings(o, 1000000);
    o.out = folder("minutes_parts");
    {
        Toy first;
        std::atomic<int> stop{2};
        TrainEvents events;
        events.stop = &stop;
        EXPECT_EQ(train(first.task(), o, events).step, 1);
    }
    o.planned_updates = 0;  // the checkpoint knows
    o.resume = true;
    const auto parts = run_in_sittings(o, 7);
    EXPECT_TRUE(whole.first == parts.first);
    EXPECT_EQ(whole.second, parts.second);
    EXPECT_NE(whole.second.find("\"step\":40"), std::string::npos);
}

TEST(TrainLoop, AnInterruptedRunEvaluatesWhatWasDue) {
    TrainOptions o = options(folder("due_whole"));
    o.eval_every = 3;
    const auto whole = run_in_sittings(o, 1000000);
    o.out = folder("due_parts");
    const auto parts = run_in_sittings(o, 3);
    EXPECT_EQ(whole.second, parts.second);
}

TEST(TrainLoop, AnExplodedLossIsNoGoodEnd) {
    Toy toy;
    TrainTask task = toy.task();
    std::int64_t calls = 0;
    task.loss = [&](std::int64_t i) {
        return static_cast<float>(++calls > 3 ? 50 : 1) * toy.loss(i);
    };
    TrainOptions o = options(folder("exploded"));
    EXPECT_EQ(train(task, o, {}).end, TrainEnd::exploded);
    o = options(folder("exploded_long"));
    o.epochs = 1000;
    calls = 0;
    const TrainResult r = train(task, o, {});
    EXPECT_EQ(r.end, TrainEnd::exploded);
    EXPECT_LT(r.step, 300);
}

TEST(TrainLoop, RulesFreezeAndScaleParameters) {
    Toy toy;
    TrainTask task = toy.task();
    task.parameter_rules = [](const std::string& name) {
        return ParameterRule{.rate_factor = name == "b.bias" ? 0.0 : 1.0,
                             .frozen = name == "a.weight"};
    };
    TrainOptions o = options(folder("rules"));
    o.epochs = 1;
    train(task, o, {});
    const Toy fresh;
    const auto same = [&](const std::string& name) {
        const Tensor &a = toy.store.at(name), &b = fresh.store.at(name);
        return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * 4) == 0;
    };
    EXPECT_TRUE(same("a.weight"));
    EXPECT_TRUE(same("b.bias"));
    EXPECT_FALSE(same("b.weight"));
    EXPECT_FALSE(same("a.bias"));
}

TEST(TrainLoop, WrongOptionsNameTheirFlag) {
    const TrainOptions good = options("x");
    EXPECT_NO_THROW(good.check());
    struct Case {
        const char* flag;
        void (*spoil)(TrainOptions&);
    };
    for (const Case& c : {Case{"--steps", [](TrainOptions& o) { o.steps = -5; }},
                          Case{"--minutes", [](TrainOptions& o) { o.minutes = NAN; }},
                          Case{"--clip", [](TrainOptions& o) { o.clip = -1; }},
                          Case{"--adam-beta1", [](TrainOptions& o) { o.adam.beta1 = 2; }},
                          Case{"--keep", [](TrainOptions& o) { o.keep = 0; }},
                          Case{"--lr", [](TrainOptions& o) { o.schedule.peak = -1; }}}) {
        TrainOptions o = good;
        c.spoil(o);
        try {
            o.check();
            ADD_FAILURE() << c.flag;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage);
            EXPECT_NE(std::string(e.what()).find(c.flag), std::string::npos) << e.what();
        }
    }
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
