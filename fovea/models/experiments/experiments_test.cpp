// The models of experiments: each differs from the paper's in the one thing it is named for. What
// all text encoders promise (packed is alone, threads, config) text_encoder_test.cpp asks of them.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/models/experiments/layer_normed_gru.h"
#include "fovea/models/experiments/transformer_variants.h"
#include "fovea/ops/loss/loss.h"

namespace fovea {
namespace {

const std::vector<Ids> some_texts = {{3, 4, 5, 6, 7}, {9, 2}, {12, 11, 4}};

TransformerConfig two_layers() {
    TransformerConfig c;
    c.vocab_size = 20;
    c.d_model = 16;
    c.encoder_layers = 2;
    c.encoder_attention_heads = 2;
    c.encoder_ffn_dim = 24;
    c.dropout = 0;
    return c;
}

struct Column {
    double mean, variance;
};

Column column_of(const Tensor& x, std::int64_t j) {
    Column c{0, 0};
    for (std::int64_t i = 0; i < x.rows(); ++i) c.mean += x.at(i, j);
    c.mean /= static_cast<double>(x.rows());
    for (std::int64_t i = 0; i < x.rows(); ++i) c.variance += std::pow(x.at(i, j) - c.mean, 2);
    c.variance /= static_cast<double>(x.rows());
    return c;
}

TEST(TransformerVariants, BatchNormNormsColumnsInTrainingAndRemembersThem) {
    ParameterStore store;
    Rng rng(3), dropout(5);
    const TransformerVariant<BatchNormedLayer> model(two_layers(), Params(store, rng));
    const TokenBatch batch = pack(some_texts);
    const Tensor untrained = model(batch);
    const Tensor mean = store.at("model.encoder.layers.1.final_batch_norm.running_mean");
    EXPECT_FALSE(mean.trainable());
    for (int pass = 0; pass < 200; ++pass) {
        Tape tape(dropout);
        const Tensor rows = model(batch);
        const Column c = column_of(rows, 3);
        ASSERT_NEAR(c.mean, 0, 1e-5);
        ASSERT_NEAR(c.variance, 1, 1e-2);
    }
    // After many such batches the averages are those of the batch, but for n − 1 in the variance of
    // each of the four norms.
    const Tensor at_work = model(batch);
    EXPECT_NE(at_work.values(), untrained.values());
    EXPECT_NEAR(column_of(at_work, 3).mean, 0, 0.05);
    EXPECT_NEAR(column_of(at_work, 3).variance, 0.75, 0.25);
}

// A stack of one layer without residuals forgets what it began from: rows depend on the values of
// attention alone, so two equal words in one text have equal rows if positions are left out.
TEST(TransformerVariants, WithoutResidualsAWordIsOnlyWhatItLooksAt) {
    TransformerConfig c = two_layers();
    c.encoder_layers = 1;
    c.positions = PositionCode::none;
    Rng a(3), b(3);
    ParameterStore plain_store, paper_store;
    const TransformerVariant<PlainLayer> plain(c, Params(plain_store, a));
    const TransformerEncoder paper(c, Params(paper_store, b));
    EXPECT_EQ(plain_store.names(), paper_store.names());
    for (const char* name : {"self_attn.q_proj.weight", "self_attn.q_proj.bias"})
        for (ParameterStore* store : {&plain_store, &paper_store}) {
            Tensor w = store->at(std::string("model.encoder.layers.0.") + name);
            std::fill_n(w.write(), w.size(), 0.0f);  // everybody looks at all alike
        }
    const TokenBatch batch = pack(std::vector<Ids>{{3, 4, 5}});
    const Tensor without = plain(batch), with = paper(batch);
    for (std::int64_t j = 0; j < without.cols(); ++j)
        EXPECT_NEAR(without.at(0, j), without.at(2, j), 1e-5);
    EXPECT_GT(std::abs(with.at(0, 1) - with.at(2, 1)), 1e-3);
}

TEST(TransformerVariants, UnscaledIsThePaperWithQueriesTimesTheRoot) {
    const TransformerConfig c = two_layers();
    Rng a(3), b(3);
    ParameterStore unscaled_store, paper_store;
    const TransformerVariant<UnscaledLayer> unscaled(c, Params(unscaled_store, a));
    const TransformerEncoder paper(c, Params(paper_store, b));
    const TokenBatch batch = pack(some_texts);
    EXPECT_NE(unscaled(batch).values(), paper(batch).values());
    const float root = std::sqrt(8.0f);
    for (const int layer : {0, 1})
        for (const char* name : {".self_attn.q_proj.weight", ".self_attn.q_proj.bias"}) {
            Tensor w = paper_store.at("model.encoder.layers." + std::to_string(layer) + name);
            float* at = w.write();
            for (std::int64_t i = 0; i < w.size(); ++i) at[i] *= root;
        }
    const std::vector<float> one = unscaled(batch).values(), other = paper(batch).values();
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 2e-5) << i;
}

// The recurrence against the equations in double, forwards and backwards.
TEST(LayerNormedGru, IsTheEquation) {
    constexpr int in = 3, h = 4;
    ParameterStore store;
    Rng rng(11);
    const LayerNormedGru gru(in, h, Params(store, rng));
    for (const char* name : {"norm_ih.bias", "norm_hh.weight"}) {
        Tensor t = store.at(name);
        for (std::int64_t i = 0; i < t.size(); ++i) t.write()[i] += 0.1f * static_cast<float>(i);
    }
    const Segments segments = Segments::of_lengths({2, 4});
    Tensor x({6, in});
    for (std::int64_t i = 0; i < x.size(); ++i)
        x.write()[i] = std::sin(1.7f * static_cast<float>(i));
    const auto normed = [](const Tensor& w, const std::vector<double>& v, const LayerNorm& norm) {
        std::vector<double> s(3 * h);
        double mean = 0, variance = 0;
        for (int i = 0; i < 3 * h; ++i) {
            for (std::size_t j = 0; j < v.size(); ++j)
                s[static_cast<std::size_t>(i)] += w.at(i, static_cast<std::int64_t>(j)) * v[j];
            mean += s[static_cast<std::size_t>(i)] / (3 * h);
        }
        for (const double value : s) variance += (value - mean) * (value - mean) / (3 * h);
        for (int i = 0; i < 3 * h; ++i) {
            double& value = s[static_cast<std::size_t>(i)];
            value = (value - mean) / std::sqrt(variance + 1e-5) * norm.weight.data()[i] +
                    norm.bias.data()[i];
        }
        return s;
    };
    for (const bool backwards : {false, true}) {
        const Tensor y = gru(x, ByStep(segments, backwards));
        for (std::int64_t s = 0; s < segments.count(); ++s) {
            std::vector<double> state(h);
            for (std::int64_t t = 0; t < segments.length(s); ++t) {
                const std::int64_t row =
                    backwards ? segments.end(s) - 1 - t : segments.begin(s) + t;
                const std::vector<double> a =
                    normed(gru.weight_ih, {x.at(row, 0), x.at(row, 1), x.at(row, 2)}, gru.norm_ih);
                const std::vector<double> z = normed(gru.weight_hh, state, gru.norm_hh);
                for (std::size_t j = 0; j < h; ++j) {
                    const auto gate = [](double v) { return 1 / (1 + std::exp(-v)); };
                    const double r = gate(a[j] + z[j]), u = gate(a[h + j] + z[h + j]);
                    const double n = std::tanh(a[2 * h + j] + r * z[2 * h + j]);
                    state[j] = n + u * (state[j] - n);
                    EXPECT_NEAR(y.at(row, static_cast<std::int64_t>(j)), state[j], 2e-6);
                }
            }
        }
    }
}

}  // namespace
}  // namespace fovea
