// Tiny TimeSformers with random weights: the same logits, loss, gradients and ten training steps as
// Hugging Face transformers in float64, for each kind of attention; and clips that do not see each
// other.
#include "fovea/base/files.h"
#include "fovea/models/timesformer.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/concat.h"
#include "tests/parity/golden_compare.h"

namespace fovea {
namespace {

const std::string folder = std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/timesformer-tiny/";

struct Golden {
    explicit Golden(const std::string& kind)
        : file(folder + kind + ".safetensors"), store(ParameterStore::Mode::load) {
        for (const TensorInfo& t : file.tensors())
            if (t.name.starts_with("param.")) store.put(t.name.substr(6), file.read(t));
        Rng unused;
        const auto config = TimesformerConfig::from_json(read_json(folder + kind + ".json"), kind);
        model.emplace(config, 4, Params(store, unused));
        store.finish(kind);
    }
    Tensor logits() const { return (*model)(file.read("frames"), {0, 1}); }
    Tensor loss() const { return cross_entropy(logits(), {2, 0}); }

    TensorFile file;
    ParameterStore store;
    std::optional<TimesformerForVideoClassification> model;
};

class TimesformerParity : public testing::TestWithParam<const char*> {};

TEST_P(TimesformerParity, LogitsLossAndEveryGradient) {
    const Golden g(GetParam());
    test::expect_same(g.logits(), g.file.read("logits"));
    Tape tape;
    const Tensor loss = g.loss();
    EXPECT_NEAR(loss.item(), g.file.read("loss").item(), 1e-5);
    EXPECT_EQ(test::expect_gradients(g.file, g.store, tape.gradients(loss)),
              g.store.names().size());
}

TEST_P(TimesformerParity, TenTrainingSteps) {
    Golden g(GetParam());
    test::expect_ten_steps(g.store, g.file.read("losses"), [&] { return g.loss(); });
}

TEST_P(TimesformerParity, AClipAloneIsTheClipInABatch) {
    const Golden g(GetParam());
    const Tensor frames = g.file.read("frames"), both = g.logits();
    const std::int64_t half = frames.size() / 2;
    for (std::int64_t clip = 0; clip < 2; ++clip) {
        Tensor own({3, 2, 8, 8});
        std::copy_n(frames.data() + clip * half, half, own.write());
        const Tensor alone = (*g.model)(own, {static_cast<std::uint64_t>(clip)});
        EXPECT_TRUE(std::equal(alone.data(), alone.data() + 4, both.data() + clip * 4)) << clip;
    }
}

// Dropout is drawn by the clip's name: the same with any neighbour.
TEST_P(TimesformerParity, DropoutBelongsToTheClip) {
    Golden g(GetParam());
    TimesformerConfig c = g.model->timesformer.config;
    c.hidden_dropout_prob = c.attention_probs_dropout_prob = 0.3;
    Rng unused;
    const TimesformerForVideoClassification model(c, 4, Params(g.store, unused));
    const Tensor frames = g.file.read("frames");
    Tensor own({3, 2, 8, 8});
    std::copy_n(frames.data() + own.size(), own.size(), own.write());
    const auto run = [&](const Tensor& x, const std::vector<std::uint64_t>& samples) {
        Rng rng(5);
        Tape tape(rng);
        return model(x, samples);
    };
    const Tensor both = run(frames, {7, 9}), alone = run(own, {9}), other = run(own, {8});
    EXPECT_TRUE(std::equal(alone.data(), alone.data() + 4, both.data() + 4));
    EXPECT_FALSE(std::equal(alone.data(), alone.data() + 4, other.data()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, TimesformerParity,
                         testing::Values("space_only", "joint_space_time", "divided_space_time"),
                         [](const auto& i) { return std::string(i.param); });

// Frames in another order: a model that looks at frames apart cannot tell, one that looks through
// time can.
TEST(Timesformer, OnlyAttentionThroughTimeKnowsTheOrderOfFrames) {
    for (const char* kind : {"space_only", "joint_space_time", "divided_space_time"}) {
        const Golden g(kind);
        const Tensor frames = g.file.read("frames");
        const std::int64_t n = frames.size() / 6;
        Tensor back({6, 2, 8, 8});
        for (std::int64_t i = 0; i < 6; ++i)
            std::copy_n(frames.data() + (i / 3 * 3 + 2 - i % 3) * n, n, back.write() + i * n);
        const Tensor forwards = g.logits(), backwards = (*g.model)(back, {0, 1});
        const double change = test::relative_error(backwards, forwards);
        if (std::string(kind) == "space_only")
            EXPECT_LT(change, 1e-6);
        else
            EXPECT_GT(change, 1e-3) << kind;
    }
}

TEST(Timesformer, BadConfigs) {
    const Json good = TimesformerConfig{}.to_json();
    for (const auto& [key, value] :
         std::vector<std::pair<const char*, Json>>{{"attention_type", "sideways"},
                                                   {"patch_size", 15},
                                                   {"num_attention_heads", 5},
                                                   {"num_frames", 0},
                                                   {"hidden_size", 0},
                                                   {"hidden_act", "loud"}}) {
        Json bad = good;
        bad[key] = value;
        EXPECT_THROW(TimesformerConfig::from_json(bad, "config.json"), Error) << key;
    }
    EXPECT_EQ(TimesformerConfig::from_json(good, "config.json").to_json(), good);
}

}  // namespace
}  // namespace fovea
