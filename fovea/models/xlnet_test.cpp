#include "fovea/models/xlnet.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct TinyXlnet {
    explicit TinyXlnet(bool causal = false) {
        config.apply_preset("tiny");
        config.d_model = 16;
        config.d_inner = 24;
        config.vocab_size = 40;
        config.initializer_range = 0.3f;
        config.causal = causal;
        Rng rng(3);
        lm.emplace(config, Params(store, rng));
    }
    XlnetConfig config;
    ParameterStore store;
    std::optional<XlnetLm> lm;
};

TokenBatch sentence(Ids tokens) {
    const auto n = static_cast<std::int64_t>(tokens.size());
    return {std::move(tokens), {}, Segments::of_lengths({n})};
}

bool row_equals(const Tensor& a, const Tensor& b, std::int64_t row) {
    return std::equal(a.data() + row * a.cols(), a.data() + (row + 1) * a.cols(),
                      b.data() + row * b.cols());
}

// A target does not know its own token, nor those predicted after it.
TEST(Xlnet, TargetsSeeNothingThatComesLaterInTheOrder) {
    const TinyXlnet tiny;
    const XlnetOrder order{{1, 4, 3, 0, 2}, {3}};  // predicted: 3, then 0, then 2
    const TokenBatch a = sentence({10, 11, 12, 13, 14});
    const Tensor before = tiny.lm->transformer.target_rows(a, order);
    for (std::int32_t position = 0; position < 5; ++position) {
        TokenBatch b = a;
        b.tokens[static_cast<std::size_t>(position)] = 33;
        const Tensor after = tiny.lm->transformer.target_rows(b, order);
        const int first_to_see = position == 3 ? 1 : position == 0 ? 2 : position == 2 ? 3 : 0;
        for (int t = 0; t < 3; ++t)
            EXPECT_EQ(row_equals(before, after, t), t < first_to_see) << position << " " << t;
    }
    EXPECT_EQ(order.target_tokens(a.tokens, a.segments), (Ids{13, 10, 12}));
}

// Tokens that are not predicted see each other whatever their order.
TEST(Xlnet, OrderOfWhatIsGivenDoesNotMatter) {
    const TinyXlnet tiny;
    const TokenBatch a = sentence({10, 11, 12, 13, 14, 15});
    const Tensor x = tiny.lm->transformer.target_rows(a, {{0, 1, 2, 4, 5, 3}, {2}});
    const Tensor y = tiny.lm->transformer.target_rows(a, {{4, 2, 0, 1, 5, 3}, {2}});
    for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x.data()[i], y.data()[i], 1e-5);
}

TEST(Xlnet, MemoryIsSeenAndFar) {
    const TinyXlnet tiny;
    const TokenBatch a = sentence({10, 11, 12});
    const Xlnet& model = tiny.lm->transformer;
    const Tensor with = model(a, {.memory = model.remember(sentence({20, 21}))});
    EXPECT_FALSE(row_equals(with, model(a), 0));
    EXPECT_FALSE(row_equals(with, model(a, {.memory = model.remember(sentence({21, 20}))}), 0));
    // An empty memory is none.
    const Tensor none = model(a, {.memory = model.remember(sentence({}))});
    for (std::int64_t r = 0; r < 3; ++r) EXPECT_TRUE(row_equals(none, model(a), r));
}

TEST(Xlnet, LeftToRightNeverSeesTheFuture) {
    for (const bool causal : {false, true}) {
        const TinyXlnet tiny(causal);
        const TokenBatch a = sentence({10, 11, 12, 13}), b = sentence({10, 11, 33, 13});
        const auto rows = [&](const TokenBatch& batch) {
            return tiny.lm->transformer(batch, {.left_to_right = !causal});
        };
        const XlnetOrder order = XlnetOrder::left_to_right(a.segments);
        const Tensor x = tiny.lm->transformer.target_rows(a, order),
                     y = tiny.lm->transformer.target_rows(b, order);
        for (std::int64_t r = 0; r < 4; ++r) {
            EXPECT_EQ(row_equals(rows(a), rows(b), r), r < 2) << r;
            EXPECT_EQ(row_equals(x, y, r), r < 3) << r;  // the third is predicted, not known
        }
    }
}

TEST(Xlnet, BadCalls) {
    const TinyXlnet tiny, causal(true);
    const Xlnet& model = tiny.lm->transformer;
    const TokenBatch a = sentence({10, 11, 12});
    EXPECT_THROW(model.target_rows(a, {{0, 1}, {1}}), Error);
    EXPECT_THROW(model.target_rows(a, {{0, 1, 1}, {1}}), Error);
    EXPECT_THROW(model.target_rows(a, {{0, 1, 3}, {1}}), Error);
    EXPECT_THROW(model.target_rows(a, {{0, 1, 2}, {4}}), Error);
    EXPECT_THROW(model.target_rows(a, {{0, 1, 2}, {}}), Error);
    EXPECT_THROW(model({{10, 11}, {0}, Segments::of_lengths({2})}), Error);
    EXPECT_THROW(model({{10, 11}, {}, Segments::of_lengths({3})}), Error);
    XlnetMemory memory = model.remember(a);
    memory.rows.pop_back();
    EXPECT_THROW(model(a, {.memory = memory}), Error);
    EXPECT_THROW(causal.lm->transformer.target_rows(a, {{1, 0, 2}, {1}}), Error);
    EXPECT_NO_THROW(causal.lm->transformer.target_rows(a, {{0, 1, 2}, {1}}));
}

TEST(Xlnet, NewConfigs) {
    for (const char* preset : {"tiny", "small", "base", "big"}) {
        const Json j =
            XlnetEncoder::new_config({.preset = preset, .vocabulary = 100, .end_token = 7});
        const XlnetConfig c = XlnetConfig::from_json(j, "config");
        EXPECT_EQ(to_text(c.to_json()), to_text(j));
        EXPECT_EQ(c.eos_token_id, 7);
        EXPECT_EQ(c.max_length, 512);
    }
    EXPECT_EQ(XlnetEncoder::new_config({.vocabulary = 9})["d_model"], 128);
    EXPECT_THROW(XlnetEncoder::new_config({.heads = 3, .vocabulary = 9}), Error);
    EXPECT_THROW(XlnetEncoder::new_config({.width = 15, .heads = 3, .vocabulary = 9}), Error);
}

TEST(Xlnet, LayersOfParameters) {
    const Json j = XlnetEncoder::new_config({.vocabulary = 20});
    ParameterStore store;
    Rng rng(1);
    const TextEncoder e = XlnetEncoder::make(j, "config", {Head::classes, 3}, Params(store, rng));
    EXPECT_EQ(e.layers, 2);
    EXPECT_EQ(e.layer_of("transformer.word_embedding.weight"), 0);
    EXPECT_EQ(e.layer_of("transformer.mask_emb"), 0);
    EXPECT_EQ(e.layer_of("transformer.layer.1.rel_attn.q"), 2);
    EXPECT_EQ(e.layer_of("logits_proj.weight"), 3);
    EXPECT_EQ(e.layer_of("sequence_summary.summary.bias"), 3);
    EXPECT_FALSE(e.tags || e.spans || e.words || e.next || e.step);
}

}  // namespace
}  // namespace fovea
