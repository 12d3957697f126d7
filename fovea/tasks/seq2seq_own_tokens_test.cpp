#include "fovea/tasks/seq2seq_own_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fovea/autograd/tape.h"
#include "fovea/models/transformer_config.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

// A small network of any kind with random weights.
struct OwnTokensNetwork {
    explicit OwnTokensNetwork(Json config, int vocabulary = 23) {
        config["vocab_size"] = vocabulary;
        config["decoder_vocab_size"] = 0;
        config["eos_token_id"] = 1;
        config["pad_token_id"] = config["decoder_start_token_id"] = 0;
        Rng rng(3);
        network = seq2seq_network_of(config, "test").make(config, "test", Params(store, rng));
        Rng noise(4);
        for (const std::string& name : store.names()) {
            Tensor t = store.at(name);
            float* p = t.write();
            for (std::int64_t i = 0; i < t.size(); ++i)
                p[i] += 0.3f * static_cast<float>(noise.normal());
        }
    }
    ParameterStore store;
    Seq2SeqNetwork network;
};

Json small_transformer() {
    TransformerConfig c;
    c.vocab_size = 23;
    c.d_model = 16;
    c.encoder_layers = c.decoder_layers = 1;
    c.encoder_attention_heads = c.decoder_attention_heads = 2;
    c.encoder_ffn_dim = c.decoder_ffn_dim = 16;
    c.dropout = 0;
    return c.to_json();
}

Json small_gru() {
    Seq2SeqChoice choice{.preset = "tiny", .width = 16};
    choice.dropout = 0;
    return seq2seq_network_named("gru").new_config(choice);
}

Seq2SeqBatch true_batch(const std::vector<std::uint64_t>& samples) {
    Seq2SeqBatch b;
    b.source = {5, 6, 7, 1, 8, 9, 1};
    b.source_segments = Segments::of_lengths(std::vector<std::int64_t>{4, 3}, samples);
    b.input = {0, 4, 5, 6, 7, 8, 0, 9, 10};
    b.labels = {4, 5, 6, 7, 8, 1, 9, 10, 1};
    b.target_segments = Segments::of_lengths(std::vector<std::int64_t>{6, 3}, samples);
    return b;
}

// Rows that do not count are true ones; then the model's own tokens, each its most probable.
TEST(OwnTokens, FollowATruePrefixAndAreTheModelsMostProbable) {
    for (const Json& config : {small_transformer(), small_gru()}) {
        const OwnTokensNetwork net(config);
        std::set<std::int64_t> places;
        for (std::int64_t epoch = 0; epoch < 12; ++epoch) {
            const Seq2SeqBatch truth = true_batch({7, 9});
            const Seq2SeqBatch b = with_own_tokens(net.network, truth, {.lag = 2}, {1, epoch});
            ASSERT_EQ(b.input.size(), b.labels.size());
            ASSERT_EQ(b.target_segments.total(), static_cast<std::int64_t>(b.input.size()));
            EXPECT_EQ(b.target_segments.sample(1), 9u);
            for (std::int64_t s = 0; s < 2; ++s) {
                const std::int64_t from = b.target_segments.begin(s),
                                   true_from = truth.target_segments.begin(s);
                std::int64_t c = 0;
                while (b.labels[static_cast<std::size_t>(from + c)] == -100) ++c;
                if (s == 0) places.insert(c);
                EXPECT_LE(b.target_segments.length(s), c + 1 + 2);
                for (std::int64_t r = 0; r < b.target_segments.length(s); ++r) {
                    const auto here = static_cast<std::size_t>(from + r),
                               there = static_cast<std::size_t>(true_from + r);
                    if (r <= c) {
                        EXPECT_EQ(b.input[here], truth.input[there]);
                    }
                    if (r >= c) {
                        EXPECT_EQ(b.labels[here], truth.labels[there]);
                    }
                    if (r <= c) continue;
                    // The own token at r is the best behind the rows before it: no other label
                    // has a smaller loss there.
                    Seq2SeqBatch asked = b;
                    asked.labels[here - 1] = b.input[here];
                    const float best = net.network.token_losses(asked).data()[here - 1];
                    for (std::int32_t w = 1; w < 23; ++w) {
                        asked.labels[here - 1] = w;
                        EXPECT_LE(best, net.network.token_losses(asked).data()[here - 1]);
                    }
                }
            }
        }
        EXPECT_GE(places.size(), 3u);
    }
}

TEST(OwnTokens, AreForAShareOfTheTargets) {
    const OwnTokensNetwork net(small_transformer());
    const Seq2SeqBatch truth = true_batch({7, 9});
    EXPECT_EQ(with_own_tokens(net.network, truth, {.lag = 2, .share = 0}, {1, 0}).labels,
              truth.labels);
    int plain = 0, own = 0;
    for (std::int64_t epoch = 0; epoch < 40; ++epoch) {
        const Seq2SeqBatch b =
            with_own_tokens(net.network, truth, {.lag = 2, .share = 0.5}, {1, epoch});
        for (std::int64_t s = 0; s < 2; ++s) {
            const std::int64_t length = b.target_segments.length(s);
            const auto begin = b.input.begin() + b.target_segments.begin(s);
            const auto true_begin = truth.input.begin() + truth.target_segments.begin(s);
            const bool counts = b.labels[static_cast<std::size_t>(b.target_segments.begin(s))] >= 0;
            const bool whole = counts && length == truth.target_segments.length(s) &&
                               std::equal(begin, begin + length, true_begin);
            ++(whole ? plain : own);
        }
    }
    EXPECT_GT(plain, 25);
    EXPECT_GT(own, 25);
}

TEST(OwnTokens, DependOnSeedEpochAndSampleAlone) {
    const OwnTokensNetwork net(small_transformer());
    const auto input = [&](std::uint64_t seed, std::int64_t epoch,
                           const std::vector<std::uint64_t>& samples) {
        return with_own_tokens(net.network, true_batch(samples), {.lag = 2}, {seed, epoch}).input;
    };
    EXPECT_EQ(input(1, 3, {7, 9}), input(1, 3, {7, 9}));
    std::set<Ids> different;
    for (std::int64_t epoch = 0; epoch < 8; ++epoch) different.insert(input(1, epoch, {7, 9}));
    EXPECT_GT(different.size(), 2u);
    // A sample keeps its draw whatever stands beside it.
    const EpochDraws draws{5, 2};
    EXPECT_EQ(draws.draw(7, 1), (EpochDraws{5, 2}).draw(7, 1));
    EXPECT_NE(draws.draw(7, 1), draws.draw(8, 1));
    EXPECT_NE(draws.draw(7, 1), draws.draw(7, 2));
}

// Nothing of the rollout is part of the gradient, and no mask is drawn for it.
TEST(OwnTokens, LeaveTheTapeAlone) {
    const OwnTokensNetwork net(small_transformer());
    Rng dropout(3);
    Tape tape(dropout);
    with_own_tokens(net.network, true_batch({7, 9}), {.lag = 2}, {1, 0});
    EXPECT_EQ(tape.recorded(), 0u);
    EXPECT_EQ(tape.next_dropout_site(), 0u);
}

TEST(ReversedTargets, StandBehindTheirDirection) {
    const Seq2SeqBatch b = all_reversed(true_batch({7, 9}), 22);
    EXPECT_EQ(b.input, (Ids{22, 8, 7, 6, 5, 4, 22, 10, 9}));
    EXPECT_EQ(b.labels, (Ids{8, 7, 6, 5, 4, 1, 10, 9, 1}));
}

TEST(TargetsWithoutSources, KeepTheirTokensAndNames) {
    Seq2SeqBatch truth = true_batch({7, 9});
    truth.copies = truth.source;
    const Seq2SeqBatch b = without_sources(truth, 1);
    EXPECT_EQ(b.source, (Ids{1, 1}));
    EXPECT_EQ(b.copies, (Ids{1, 1}));
    EXPECT_EQ(b.source_segments.sample(1), 9u);
    EXPECT_EQ(b.input, truth.input);
    EXPECT_EQ(b.labels, truth.labels);
    // Their loss is the same whatever the source was.
    const OwnTokensNetwork net(small_transformer());
    Seq2SeqBatch other = true_batch({7, 9});
    other.source[0] = 12;
    EXPECT_EQ(net.network.loss(without_sources(other, 1), 0).item(),
              net.network.loss(without_sources(true_batch({7, 9}), 1), 0).item());
}

TEST(ReversedTargets, AreTheShareThatWasAskedFor) {
    const Seq2SeqBatch truth = true_batch({7, 9});
    EXPECT_EQ(with_reversed(truth, 22, 0, {1, 0}).input, truth.input);
    EXPECT_EQ(with_reversed(truth, 22, 1, {1, 0}).input, all_reversed(truth, 22).input);
    int reversed = 0;
    for (std::int64_t epoch = 0; epoch < 500; ++epoch)
        reversed += with_reversed(truth, 22, 0.3, {1, epoch}).input[0] == 22;
    EXPECT_NEAR(reversed, 150, 35);
}

}  // namespace
}  // namespace fovea
