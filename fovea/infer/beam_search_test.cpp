#include "fovea/infer/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fovea/infer/ensemble_stepper.h"
#include "fovea/infer/test_transformer.h"

namespace fovea {
namespace {

// log p of every token after every beginning of `target`, by the uncached decoder: [size + 1][V].
std::vector<std::vector<double>> log_probs_of(const Tiny& tiny, const Ids& source,
                                              const Ids& target) {
    Ids input{tiny.config.decoder_start_token_id};
    input.insert(input.end(), target.begin(), target.end());
    const auto [ids, segments] = packed({source});
    const auto [in, whole] = packed({input});
    const Tensor logits = tiny.model->logits(
        tiny.model->decoder(in, whole, tiny.model->encode(ids, segments), segments));
    std::vector<std::vector<double>> rows;
    for (std::int64_t r = 0; r < logits.rows(); ++r) {
        const float* x = logits.data() + r * logits.cols();
        double sum = 0;
        for (std::int64_t c = 0; c < logits.cols(); ++c) sum += std::exp(static_cast<double>(x[c]));
        rows.emplace_back();
        for (std::int64_t c = 0; c < logits.cols(); ++c)
            rows.back().push_back(x[c] - std::log(sum));
    }
    return rows;
}

TEST(TransformerStepper, CachedDecodingEqualsTheFullForwardBitForBit) {
    for (const PositionCode code :
         {PositionCode::sinusoidal, PositionCode::unit, PositionCode::learned,
          PositionCode::relative, PositionCode::rotary}) {
        const Tiny tiny(3, code);
        const Ids& source = sources[0];
        const Ids target = {0, 7, 30, 22, 6, 33, 2, 5};  // begins with the start
        const auto [ids, segments] = packed({source});
        const Tensor memory = tiny.model->encode(ids, segments);
        const Segments whole = Segments::of_lengths({static_cast<std::int64_t>(target.size())});
        const Tensor full =
            tiny.model->logits(tiny.model->decoder(target, whole, memory, segments));
        // Three hypotheses of which the middle one is ours; the others fork at every step.
        for (std::size_t prompt = 1; prompt < target.size(); ++prompt) {
            const std::vector<Ids> begin{Ids(target.begin(), target.begin() + prompt)};
            TransformerStepper stepper(*tiny.model, ids, segments);
            Tensor logits = stepper.start(begin);
            for (std::size_t t = prompt; t < target.size(); ++t) {
                const std::int64_t row = t == prompt ? 0 : 1;
                ASSERT_EQ(std::memcmp(logits.data() + row * logits.cols(),
                                      full.data() + static_cast<std::int64_t>(t - 1) * full.cols(),
                                      static_cast<std::size_t>(full.cols()) * sizeof(float)),
                          0)
                    << name_of(code) << ", a prompt of " << prompt << ", step " << t;
                const std::vector<std::int64_t> parents = t == prompt
                                                              ? std::vector<std::int64_t>{0, 0, 0}
                                                              : std::vector<std::int64_t>{1, 1, 0};
                logits = stepper.step({static_cast<std::int32_t>(t + 3), target[t], 9}, parents);
            }
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
            std::vector<DecodeRequest> requests(sources.size());
            for (std::size_t s = 0; s < sources.size(); ++s) requests[s].sample_id = 10 + s;
            const auto together = decode(tiny, sources, o, requests);
            for (std::size_t s = 0; s < sources.size(); ++s) {
                const auto alone = decode(tiny, {sources[s]}, o, {requests[s]});
                ASSERT_EQ(alone[0].size(), together[s].size());
                for (std::size_t k = 0; k < alone[0].size(); ++k) {
                    EXPECT_EQ(alone[0][k].tokens, together[s][k].tokens);
                    EXPECT_EQ(alone[0][k].token_scores, together[s][k].token_scores);  // exactly
                }
            }
        }
}

TEST(Search, GreedyTakesTheArgmaxOfTheUncachedDecoder) {
    const Tiny tiny;
    const auto greedy = decode(tiny, sources, {.max_length = 12});
    for (std::size_t s = 0; s < sources.size(); ++s) {
        ASSERT_EQ(greedy[s].size(), 1u);
        const Hypothesis& h = greedy[s][0];
        ASSERT_EQ(h.token_scores.size(), h.tokens.size() + (h.finished ? 1 : 0));
        ASSERT_GT(h.token_scores.size(), 0u);
        const auto rows = log_probs_of(tiny, sources[s], h.tokens);
        for (std::size_t t = 0; t < h.token_scores.size(); ++t) {
            const auto best = std::max_element(rows[t].begin(), rows[t].end());
            const std::int32_t taken = t < h.tokens.size() ? h.tokens[t] : h.end_token;
            EXPECT_EQ(taken, best - rows[t].begin()) << "sentence " << s << " token " << t;
            EXPECT_NEAR(h.token_scores[t], *best, 1e-5);
        }
        if (h.finished) {
            EXPECT_EQ(h.end_token, tiny.config.eos_token_id);
        } else {
            EXPECT_EQ(h.tokens.size(), 12u);
        }
    }
}

// Six tokens and at most three of them: 156 texts, fewer than the beam has places.
TEST(Search, ABeamWithRoomForEverythingRanksAllTextsThereAre) {
    const Tiny tiny(5, PositionCode::sinusoidal, 6);
    const Ids source = {5, 4, 2, 1};
    std::vector<std::pair<double, Ids>> wanted;
    const auto visit = [&](const auto& self, const Ids& text, double sum) -> void {
        if (text.size() == 3) return wanted.emplace_back(sum, text), void();
        const std::vector<double> next = log_probs_of(tiny, source, text).back();
        wanted.emplace_back(sum + next[1], text);  // 1 ends it
        for (std::int32_t t = 0; t < 6; ++t) {
            if (t == 1) continue;
            Ids longer = text;
            longer.push_back(t);
            self(self, longer, sum + next[static_cast<std::size_t>(t)]);
        }
    };
    visit(visit, {}, 0);
    std::sort(wanted.rbegin(), wanted.rend());
    const auto found = decode(tiny, {source},
                              {.beam = 200,
                               .n_best = 200,
                               .max_length = 3,
                               .penalty = LengthPenalty::none,
                               .early_stop = false})[0];
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
        EXPECT_NEAR(found[k].score, wanted[k].first, 1e-4) << k;
        EXPECT_EQ(found[k].tokens, wanted[k].second) << k;
        EXPECT_EQ(found[k].finished, found[k].tokens.size() < 3);
    }
}

TEST(Search, PrefixConstraintsAndControlsAreKept) {
    const Tiny tiny;
    const SearchOptions o{.beam = 8, .max_length = 24, .early_stop = false};
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
        const Ids phrase = {30, 31};
        const bool met = std::search(t.begin(), t.end(), phrase.begin(), phrase.end()) != t.end() &&
                         std::find(t.begin(), t.end(), 25) != t.end();
        EXPECT_EQ(list[0].constraints_met, met);
        EXPECT_TRUE(met || !list[0].finished);  // only the limit leaves them open
    }
    for (auto& w : requests) w.limit = 3;  // one token less than prefix and phrases need
    for (const auto& list : decode(tiny, sources, o, requests)) {
        EXPECT_FALSE(list[0].finished);
        EXPECT_FALSE(list[0].constraints_met);
    }
    for (const auto& list :
         decode(tiny, sources,
                {.max_length = 30, .min_length = 9, .no_repeat_ngram = 1, .banned = {7, 8}})) {
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
    std::vector<std::unique_ptr<Stepper>> members;
    for (int i = 0; i < 2; ++i)
        members.push_back(std::make_unique<TransformerStepper>(*tiny.model, ids, segments));
    EnsembleStepper twice(std::move(members));
    const auto a =
        search(twice, {.beam = 3, .max_length = 15}, std::vector<DecodeRequest>(sources.size()));
    const auto b = decode(tiny, sources, {.beam = 3, .max_length = 15});
    for (std::size_t s = 0; s < sources.size(); ++s) {
        EXPECT_EQ(a[s][0].tokens, b[s][0].tokens);
        EXPECT_NEAR(a[s][0].sum, b[s][0].sum, 1e-4);
    }
}

TEST(Search, CoverageChangesTheRankingOfAModelWithASource) {
    const Tiny tiny;
    const SearchOptions plain{.beam = 4, .n_best = 4, .max_length = 4};
    SearchOptions covered = plain;
    covered.coverage_penalty = 0.5;
    const auto a = decode(tiny, sources, plain), b = decode(tiny, sources, covered);
    EXPECT_GT(a[2][0].score, b[2][0].score);  // four tokens cannot cover nine
    const auto alone = decode(tiny, {sources[2]}, covered);
    EXPECT_EQ(alone[0][0].score, b[2][0].score);
}

}  // namespace
}  // namespace fovea
