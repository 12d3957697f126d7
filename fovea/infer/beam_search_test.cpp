#include "fovea/infer/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/infer/constraints.h"
#include "fovea/infer/transformer_stepper.h"
#include "fovea/ops/rows/top_k.h"

namespace fovea {
namespace {

struct Tiny {
    explicit Tiny(std::uint64_t seed = 3, PositionCode code = PositionCode::sinusoidal) {
        config.vocab_size = 41;
        config.d_model = 16;
        config.encoder_layers = config.decoder_layers = 2;
        config.encoder_attention_heads = config.decoder_attention_heads = 4;
        config.encoder_ffn_dim = config.decoder_ffn_dim = 32;
        config.positions = code;
        Rng rng(seed);
        model = std::make_unique<Transformer>(config, Params(store, rng));
        // Larger weights than at birth, so that the distribution is not flat.
        Rng noise(seed + 1);
        for (const std::string& name : store.names()) {
            Tensor t = store.at(name);
            float* p = t.write();
            for (std::int64_t i = 0; i < t.size(); ++i)
                p[i] += 0.3f * static_cast<float>(noise.normal());
        }
    }
    TransformerConfig config;
    ParameterStore store;
    std::unique_ptr<Transformer> model;
};

const std::vector<Ids> sources = {
    {5, 9, 31, 4, 17, 1}, {8, 1}, {11, 12, 13, 14, 15, 16, 18, 19, 1}, {40, 39, 1}};

std::pair<Ids, Segments> packed(const std::vector<Ids>& texts) {
    Ids all;
    std::vector<std::int64_t> lengths;
    for (const Ids& t : texts) {
        all.insert(all.end(), t.begin(), t.end());
        lengths.push_back(static_cast<std::int64_t>(t.size()));
    }
    return {all, Segments::of_lengths(lengths)};
}

std::vector<std::vector<Hypothesis>> decode(const Tiny& tiny, const std::vector<Ids>& texts,
                                            const SearchOptions& o,
                                            const std::vector<DecodeRequest>& requests = {},
                                            const std::vector<std::uint64_t>& samples = {}) {
    const auto [ids, segments] = packed(texts);
    TransformerStepper stepper({tiny.model.get()}, ids, segments);
    return search(stepper, o, requests, samples);
}

TEST(TransformerStepper, CachedDecodingEqualsTheFullForwardBitForBit) {
    for (const PositionCode code :
         {PositionCode::sinusoidal, PositionCode::unit, PositionCode::learned,
          PositionCode::relative, PositionCode::rotary}) {
        const Tiny tiny(3, code);
        const Ids source = sources[0],
                  target = {0, 7, 30, 22, 6, 33, 2, 5};  // begins with the start
        const auto [ids, segments] = packed({source});
        const Tensor memory = tiny.model->encode(ids, segments);
        const Segments whole = Segments::of_lengths({static_cast<std::int64_t>(target.size())});
        const Tensor full =
            tiny.model->logits(tiny.model->decoder(target, whole, memory, segments));
        // Three hypotheses of which the middle one is ours; the others fork at every step.
        TransformerStepper stepper({tiny.model.get()}, ids, segments);
        for (std::size_t t = 0; t < target.size(); ++t) {
            const std::vector<std::int64_t> parents =
                t == 0 ? std::vector<std::int64_t>{0, 0, 0} : std::vector<std::int64_t>{1, 1, 0};
            const Ids tokens = {static_cast<std::int32_t>(t + 3), target[t], 9};
            const Tensor logits = stepper.step(t == 0 ? Ids{0, 0, 0} : tokens, parents);
            ASSERT_EQ(std::memcmp(logits.data() + logits.cols(),
                                  full.data() + static_cast<std::int64_t>(t) * full.cols(),
                                  static_cast<std::size_t>(full.cols()) * sizeof(float)),
                      0)
                << name_of(code) << " step " << t;
        }
    }
}

TEST(Search, ASentenceNeverDependsOnItsBatch) {
    for (const PositionCode code :
         {PositionCode::sinusoidal, PositionCode::relative, PositionCode::rotary})
        for (const SearchOptions& o :
             {SearchOptions{.max_length = 20},
              SearchOptions{.beam = 4, .n_best = 4, .max_length = 20},
              SearchOptions{.n_best = 3, .max_length = 20, .sample = true, .top_k = 9}}) {
            const Tiny tiny(3, code);
            const auto together = decode(tiny, sources, o, {}, {10, 11, 12, 13});
            for (std::size_t s = 0; s < sources.size(); ++s) {
                const auto alone = decode(tiny, {sources[s]}, o, {}, {10 + s});
                ASSERT_EQ(alone[0].size(), together[s].size());
                for (std::size_t k = 0; k < alone[0].size(); ++k) {
                    EXPECT_EQ(alone[0][k].tokens, together[s][k].tokens);
                    EXPECT_EQ(alone[0][k].token_scores, together[s][k].token_scores);  // exactly
                }
            }
        }
}

TEST(Search, GreedyIsTheArgmaxAndBeamsFindNoWorse) {
    const Tiny tiny;
    const auto greedy = decode(tiny, sources, {.max_length = 12, .penalty = LengthPenalty::none});
    const auto beam = decode(tiny, sources,
                             {.beam = 6,
                              .n_best = 6,
                              .max_length = 12,
                              .penalty = LengthPenalty::none,
                              .early_stop = false});
    for (std::size_t s = 0; s < sources.size(); ++s) {
        ASSERT_EQ(greedy[s].size(), 1u);
        if (greedy[s][0].finished && beam[s][0].finished) {
            EXPECT_GE(beam[s][0].sum, greedy[s][0].sum - 1e-5);
        }
        for (std::size_t k = 1; k < beam[s].size(); ++k)
            EXPECT_GE(beam[s][k - 1].score, beam[s][k].score);
        for (const Hypothesis& h : beam[s]) {
            double sum = 0;
            for (const float t : h.token_scores) sum += t;
            EXPECT_NEAR(sum, h.sum, 1e-5);
            EXPECT_EQ(h.token_scores.size(), h.tokens.size() + (h.finished ? 1 : 0));
        }
    }
}

TEST(Search, PrefixConstraintsAndControlsAreKept) {
    const Tiny tiny;
    const SearchOptions o{
        .beam = 8, .max_length = 24, .max_length_factor = 10, .early_stop = false};
    std::vector<DecodeRequest> requests(sources.size());
    for (auto& w : requests) {
        w.prefix = {21, 22};
        w.constraints = {{30, 31}, {25}};
    }
    for (const auto& list : decode(tiny, sources, o, requests)) {
        ASSERT_FALSE(list.empty());
        const Ids& t = list[0].tokens;
        ASSERT_GE(t.size(), 2u);
        EXPECT_EQ(t[0], 21);
        EXPECT_EQ(t[1], 22);
        if (!list[0].finished) continue;  // cut at the length: constraints may be open
        const Ids phrase = {30, 31};
        EXPECT_NE(std::search(t.begin(), t.end(), phrase.begin(), phrase.end()), t.end());
        EXPECT_NE(std::find(t.begin(), t.end(), 25), t.end());
    }
    for (const auto& list : decode(tiny, sources,
                                   {.max_length = 30,
                                   .max_length_factor = 20,
                                   .min_length = 9,
                                   .no_repeat_ngram = 1,
                                   .banned = {7, 8}})) {
        Ids t = list[0].tokens;
        EXPECT_GE(t.size(), 9u);
        EXPECT_EQ(std::count(t.begin(), t.end(), 7) + std::count(t.begin(), t.end(), 8), 0);
        std::sort(t.begin(), t.end());
        EXPECT_EQ(std::adjacent_find(t.begin(), t.end()), t.end());
    }
}

TEST(Search, AnEnsembleOfOneModelTwiceIsThatModel) {
    const Tiny tiny;
    const auto [ids, segments] = packed(sources);
    TransformerStepper twice({tiny.model.get(), tiny.model.get()}, ids, segments);
    const auto a = search(twice, {.beam = 3, .max_length = 15});
    const auto b = decode(tiny, sources, {.beam = 3, .max_length = 15});
    for (std::size_t s = 0; s < sources.size(); ++s) {
        EXPECT_EQ(a[s][0].tokens, b[s][0].tokens);
        EXPECT_NEAR(a[s][0].sum, b[s][0].sum, 1e-4);
    }
}

TEST(Search, BadOptionsAreUsageErrors) {
    EXPECT_THROW(SearchOptions{.beam = 0}.check(), Error);
    EXPECT_THROW((SearchOptions{.beam = 2, .n_best = 3}).check(), Error);
    EXPECT_THROW(SearchOptions{.temperature = 0}.check(), Error);
    EXPECT_THROW(length_penalty_of("magic"), Error);
}

TEST(LengthPenalties, TheToolkitsFormulas) {
    EXPECT_DOUBLE_EQ(ranked_score(-6, 4, LengthPenalty::none, 1), -6);
    EXPECT_DOUBLE_EQ(ranked_score(-6, 4, LengthPenalty::fairseq, 0.5), -3);
    EXPECT_DOUBLE_EQ(ranked_score(-6, 4, LengthPenalty::hf, 1), -1.5);
    EXPECT_DOUBLE_EQ(ranked_score(-6, 4, LengthPenalty::marian, 1, 0.1), -1.9);
    EXPECT_DOUBLE_EQ(ranked_score(-6, 7, LengthPenalty::onmt_wu, 1), -3);
}

TEST(TopScores, SortedTiesAndSampling) {
    const Tensor logits = Tensor::of({2, 6}, {1, 5, 3, 5, -2, 0, 0, 0, 0, 0, 0, 100});
    const auto rows = top_scores(logits, 4);
    EXPECT_EQ(rows[0].best, (std::vector<std::int32_t>{1, 3, 2, 0}));
    double sum = 0;
    for (int t = 0; t < 6; ++t) sum += std::exp(static_cast<double>(rows[0].log_prob(t)));
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NEAR(rows[1].log_probs[0], 0, 1e-6);
    EXPECT_EQ(rows[0].sample(0.0, 1, 0, 1).first, 0);
    EXPECT_EQ(rows[0].sample(0.9999999, 1, 2, 1).first, 3);  // of the two best, the second
    EXPECT_EQ(rows[0].sample(0.9999999, 1, 0, 0.01).first, 1);
    const float inf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(top_scores(Tensor::of({1, 3}, {-inf, 2, -inf}), 1)[0].log_probs[0], 0);
}

TEST(Constraints, ProgressAndStartingOver) {
    const std::vector<Ids> phrases = {{1, 2, 3}, {9}};
    ConstraintState s(&phrases);
    EXPECT_FALSE(s.all_met());
    s = s.after(1).after(2);
    EXPECT_EQ(s.progress(), 2);
    s = s.after(7);  // left half-way
    EXPECT_EQ(s.progress(), 0);
    s = s.after(1).after(2).after(3);
    EXPECT_EQ(s.progress(), 3);
    EXPECT_EQ(s.wanted(), (std::vector<std::int32_t>{9}));
    EXPECT_TRUE(s.after(9).all_met());
}

}  // namespace
}  // namespace fovea
