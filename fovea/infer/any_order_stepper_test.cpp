#include "fovea/infer/any_order_stepper.h"

#include <gtest/gtest.h>

#include <cstring>

#include "fovea/infer/beam_search.h"
#include "fovea/models/xlnet.h"

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

// Behind the context (24, the row that tells among them) the text is its newer half.
TEST(AnyOrderStepper, AFullContextLosesItsOldestHalf) {
    const SmallXlnet small;
    for (const bool keep_rows : {false, true}) {
        AnyOrderStepper stepper(small.model, {.end_tokens = {2}, .keep_rows = keep_rows});
        const std::vector<Ids> from = {Ids(23, 5), {9}};
        stepper.start(from);
        const std::vector<std::int64_t> parents = {0, 1};
        const Tensor got = stepper.step({7, 8}, parents);
        Ids view(11, 5);
        view.push_back(7);
        AnyOrderStepper fresh(small.model, {.end_tokens = {2}, .keep_rows = keep_rows});
        const Tensor want = fresh.start(std::vector<Ids>{view});
        EXPECT_EQ(std::memcmp(want.data(), got.data(),
                              sizeof(float) * static_cast<std::size_t>(want.cols())),
                  0);
        // and both go on alike, whatever is kept
        const std::vector<std::int64_t> first = {0};
        const Tensor next = stepper.step({4, 4}, parents), alone = fresh.step({4}, first);
        EXPECT_EQ(std::memcmp(alone.data(), next.data(),
                              sizeof(float) * static_cast<std::size_t>(alone.cols())),
                  0);
    }
    AnyOrderStepper longer(small.model, {.end_tokens = {2}});
    EXPECT_THROW(longer.start(std::vector<Ids>{Ids(24, 5)}), Error);
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
