#include "fovea/infer/any_order_stepper.h"

#include <gtest/gtest.h>

#include <cstring>

#include "fovea/infer/beam_search.h"
#include "fovea/infer/xlnet_stepper.h"

namespace fovea {
namespace {

struct SmallXlnet {
    SmallXlnet() {
        EncoderChoice choice{.layers = 2, .width = 16, .ffn = 24, .heads = 2};
        choice.vocabulary = 37;
        choice.max_length = 24;
        choice.end_token = 2;
        config = XlnetEncoder::new_config(choice);
        config["initializer_range"] = 0.5;
        Rng rng(4);
        model =
            text_encoder_named("xlnet").make(config, "config", {Head::words}, Params(store, rng));
    }
    Json config;
    ParameterStore store;
    TextEncoder model;
};

const std::vector<Ids> prompts = {{4, 5, 6}, {9}, {3, 1, 12, 20, 28, 30, 11}};

bool same_bits(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), sizeof(float) * static_cast<std::size_t>(a.size())) == 0;
}

// XlnetStepper is held to the reference's numbers (tests/parity): the same bits, step by step.
TEST(AnyOrderStepper, TellsWhatXlnetTells) {
    SmallXlnet small;
    Rng unused;
    const XlnetLm lm(XlnetConfig::from_json(small.config, "config"), Params(small.store, unused));
    const auto want = make_xlnet_stepper(lm, {.memory = false});
    AnyOrderStepper got(small.model, {.end_tokens = {2}});
    EXPECT_TRUE(same_bits(got.start(prompts), want->start(prompts)));
    const Ids tokens = {7, 8, 7, 11};
    const std::vector<std::int64_t> parents = {2, 0, 0, 1};  // they fork and cross over
    EXPECT_TRUE(same_bits(got.step(tokens, parents), want->step(tokens, parents)));
}

TEST(AnyOrderStepper, NeighboursChangeNoBit) {
    const SmallXlnet small;
    const auto written = [&](const std::vector<Ids>& texts) {
        const auto stepper = make_language_stepper(small.model, {.end_tokens = {2}});
        std::vector<DecodeRequest> requests;
        for (const Ids& text : texts) requests.push_back({.prompt = text, .limit = 8});
        std::vector<Hypothesis> best;
        for (auto& found : search(*stepper, {.beam = 3}, requests)) best.push_back(found[0]);
        return best;
    };
    const auto together = written(prompts);
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        const Hypothesis alone = written({prompts[i]})[0];
        EXPECT_EQ(together[i].tokens, alone.tokens);
        EXPECT_EQ(together[i].token_scores, alone.token_scores);
    }
}

}  // namespace
}  // namespace fovea
