// The frame of infer/ with a model that has no source.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fovea/base/error.h"
#include "fovea/infer/beam_search.h"
#include "fovea/infer/ensemble_stepper.h"
#include "fovea/infer/test_language_model.h"
#include "fovea/ops/rows/top_k.h"

namespace fovea {
namespace {

bool same_toy_row(const Tensor& a, std::int64_t ra, const Tensor& b, std::int64_t rb) {
    return std::memcmp(a.data() + ra * a.cols(), b.data() + rb * b.cols(),
                       static_cast<std::size_t>(a.cols()) * sizeof(float)) == 0;
}

TEST(ToyLanguageModel, PromptsInABatchEqualEachAloneAndTheUncachedModel) {
    for (const PositionCode code :
         {PositionCode::learned, PositionCode::relative, PositionCode::rotary}) {
        const ToyModel model(3, code);
        ToyStepper together(model);
        Tensor all = together.start(toy_prompts);
        ASSERT_EQ(all.rows(), 4);
        std::vector<Ids> texts = toy_prompts;
        std::vector<ToyStepper> alone(texts.size(), ToyStepper(model));
        std::vector<Tensor> one;
        for (std::size_t s = 0; s < texts.size(); ++s)
            one.push_back(alone[s].start({&texts[s], 1}));
        // From the second step on every text has a sibling that parts from it, rows after row.
        std::int64_t stride = 1;
        for (std::int32_t t = 0; t < 70; ++t) {
            Ids tokens;
            std::vector<std::int64_t> parents;
            for (std::size_t s = 0; s < texts.size(); ++s) {
                const auto row = static_cast<std::int64_t>(s) * stride;
                const Tensor full = model(
                    texts[s], Segments::of_lengths({static_cast<std::int64_t>(texts[s].size())}));
                ASSERT_TRUE(same_toy_row(all, row, full, full.rows() - 1))
                    << name_of(code) << " text " << s << " step " << t;
                ASSERT_TRUE(same_toy_row(one[s], 0, full, full.rows() - 1))
                    << name_of(code) << " text " << s << " step " << t;
                const auto token = static_cast<std::int32_t>((t * 7 + 3 * s + 5) % toy_vocabulary);
                tokens.insert(tokens.end(), {token, 30});
                parents.insert(parents.end(), {row, row});
                texts[s].push_back(token);
                one[s] = alone[s].step({token}, std::vector<std::int64_t>{0});
            }
            all = together.step(tokens, parents);
            stride = 2;
        }
    }
}

TEST(ToyLanguageModel, GreedyIsTheArgmaxOfTheUncachedModelBeyondTenTokens) {
    const ToyModel model;
    ToyStepper stepper(model, {toy_vocabulary - 1});
    auto requests = toy_requests(40);
    requests[1].limit = 300;
    const auto found = search(stepper, {.min_length = 25}, requests);
    for (std::size_t s = 0; s < found.size(); ++s) {
        const Hypothesis& h = found[s][0];
        EXPECT_GE(h.tokens.size(), 25u);
        EXPECT_LE(h.tokens.size(), s == 1 ? 300u : 40u);
        EXPECT_EQ(h.finished, static_cast<std::int64_t>(h.tokens.size()) < requests[s].limit);
        Ids text = toy_prompts[s];
        for (std::size_t t = 0; t < h.tokens.size(); ++t) {
            const Tensor full =
                model(text, Segments::of_lengths({static_cast<std::int64_t>(text.size())}));
            const float* row = full.data() + (full.rows() - 1) * full.cols();
            const int allowed = t < 25 ? toy_vocabulary - 1 : toy_vocabulary;  // min_length
            ASSERT_EQ(h.tokens[t], std::max_element(row, row + allowed) - row) << s << " " << t;
            text.push_back(h.tokens[t]);
        }
    }
}

TEST(ToyLanguageModel, BeamsAndSamplesDoNotDependOnTheBatch) {
    const ToyModel model;
    for (const SearchOptions& o :
         {SearchOptions{.beam = 4, .n_best = 4},
          SearchOptions{.beam = 3, .n_best = 2, .early_stop = false},
          SearchOptions{.n_best = 5, .sample = true, .temperature = 0.8, .top_k = 12}}) {
        auto requests = toy_requests(30);
        for (std::size_t s = 0; s < requests.size(); ++s) requests[s].sample_id = 100 + s;
        ToyStepper stepper(model);
        const auto together = search(stepper, o, requests);
        for (std::size_t s = 0; s < requests.size(); ++s) {
            ToyStepper single(model);
            const auto alone = search(single, o, {&requests[s], 1});
            ASSERT_EQ(alone[0].size(), static_cast<std::size_t>(o.n_best));
            for (std::size_t k = 0; k < alone[0].size(); ++k) {
                EXPECT_EQ(alone[0][k].tokens, together[s][k].tokens);
                EXPECT_EQ(alone[0][k].token_scores, together[s][k].token_scores);  // exactly
                EXPECT_EQ(alone[0][k].score, together[s][k].score);
            }
        }
    }
}

TEST(ToyLanguageModel, SamplesShareThePrefill) {
    const ToyModel model;
    ToyStepper stepper(model);
    const DecodeRequest request{.prompt = toy_prompts[2], .limit = 12};
    const auto found = search(stepper, {.n_best = 20, .sample = true}, {&request, 1});
    EXPECT_EQ(found[0].size(), 20u);
    EXPECT_EQ(stepper.rows_read, 18);  // once, not twenty times
    std::vector<bool> seen(20, false);
    for (const Hypothesis& h : found[0]) seen[static_cast<std::size_t>(h.sample)] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 20);
}

TEST(ToyLanguageModel, AnyOfSeveralEndTokensEndsAText) {
    const ToyModel model;
    bool saw_two = false;
    ToyStepper stepper(model, {1, 2, 3, 4, 5, 6, 7});
    const auto found = search(stepper, {.n_best = 30, .sample = true}, toy_requests(50));
    std::int32_t first = 0;
    for (const auto& list : found)
        for (const Hypothesis& h : list) {
            for (const std::int32_t t : h.tokens) EXPECT_TRUE(t < 1 || t > 7);
            if (!h.finished) continue;
            EXPECT_TRUE(h.end_token >= 1 && h.end_token <= 7);
            if (first == 0) first = h.end_token;
            saw_two = saw_two || h.end_token != first;
        }
    EXPECT_TRUE(saw_two);
    // Beams: seven places lost to ends in one row leave enough others to go on with.
    ToyStepper beams(model, {1, 2, 3, 4, 5, 6, 7});
    for (const auto& list :
         search(beams, {.beam = 2, .n_best = 2, .min_length = 9}, toy_requests(9)))
        EXPECT_EQ(list.size(), 2u);
}

TEST(ToyLanguageModel, EnsemblesNeedNoSourceAndCoverageDoes) {
    const ToyModel a(3), b(4);
    const auto both = [&] {
        std::vector<std::unique_ptr<Stepper>> members;
        members.push_back(std::make_unique<ToyStepper>(a));
        members.push_back(std::make_unique<ToyStepper>(b));
        return EnsembleStepper(std::move(members));
    };
    EnsembleStepper stepper = both();
    const Tensor mean = stepper.start(toy_prompts);
    ToyStepper one(a), two(b);
    const Tensor x = one.start(toy_prompts), y = two.start(toy_prompts);
    const auto p = top_scores(x, 0), q = top_scores(y, 0);
    for (std::int32_t t = 0; t < toy_vocabulary; ++t)
        EXPECT_NEAR(mean.data()[t],
                    std::log((std::exp(p[0].log_prob(t)) + std::exp(q[0].log_prob(t))) / 2), 1e-5);
    EnsembleStepper again = both();
    EXPECT_EQ(search(again, {.beam = 3}, toy_requests(20)).size(), 4u);
    const auto kind_of = [&](const SearchOptions& o, const DecodeRequest& r) {
        ToyStepper s(a);
        try {
            search(s, o, {&r, 1});
        } catch (const Error& e) {
            return e.kind();
        }
        return ErrorKind::busy;
    };
    EXPECT_EQ(kind_of({.coverage_penalty = 0.1}, {.prompt = {3}}), ErrorKind::usage);
    EXPECT_EQ(kind_of({}, {}), ErrorKind::usage);  // no prompt, and no default one
    EXPECT_EQ(kind_of({}, {.prompt = {3}}), ErrorKind::busy);
}

}  // namespace
}  // namespace fovea
