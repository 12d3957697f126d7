// Search whose tokens are settled once K others follow them.
#include <gtest/gtest.h>

#include <vector>

#include "fovea/base/error.h"
#include "fovea/infer/beam_search.h"
#include "fovea/infer/test_language_model.h"
#include "fovea/infer/test_transformer.h"

namespace fovea {
namespace {

SearchOptions with_lag(int lag, int n_best = 1) {
    SearchOptions o;
    o.beam = 5;
    o.n_best = n_best;
    o.max_length = 20;
    o.fixed_lag = lag;
    return o;
}

TEST(FixedLag, ALagOfTheWholeTextIsThePlainSearch) {
    const Tiny tiny;
    const auto plain = decode(tiny, sources, with_lag(0, 5));
    const auto lagging = decode(tiny, sources, with_lag(20, 5));
    for (std::size_t s = 0; s < sources.size(); ++s) {
        ASSERT_EQ(lagging[s].size(), plain[s].size());
        for (std::size_t i = 0; i < plain[s].size(); ++i) {
            EXPECT_EQ(lagging[s][i].tokens, plain[s][i].tokens);
            EXPECT_EQ(lagging[s][i].score, plain[s][i].score);
        }
    }
}

TEST(FixedLag, EveryTokenIsToldAtMostSoManyStepsLate) {
    const ToyModel model;
    std::int64_t latest_plain = 0;
    for (const int lag : {0, 1, 2, 4}) {
        ToyStepper stepper(model, {1, 2});
        const auto requests = toy_requests(30);
        std::vector<Ids> heard(requests.size());
        std::int64_t latest = 0;
        SearchHooks hooks;
        hooks.on_token = [&](const SearchEvent& e) {
            Ids& tokens = heard[static_cast<std::size_t>(e.sentence)];
            // Token i is chosen by the logits of step i (the first by those of the prompt).
            latest = std::max(latest, stepper.steps - static_cast<std::int64_t>(tokens.size()));
            if (!e.end) tokens.push_back(e.token);
            return true;
        };
        const auto found = search(stepper, with_lag(lag), requests, hooks);
        for (std::size_t s = 0; s < found.size(); ++s) EXPECT_EQ(heard[s], found[s][0].tokens);
        if (lag == 0)
            latest_plain = latest;
        else
            EXPECT_LE(latest, lag) << lag;
    }
    EXPECT_GT(latest_plain, 4);  // so the bound says something
}

TEST(FixedLag, ASentenceNeverDependsOnItsBatch) {
    const Tiny tiny;
    for (const int lag : {1, 3}) {
        const auto together = decode(tiny, sources, with_lag(lag));
        for (std::size_t s = 0; s < sources.size(); ++s) {
            const auto alone = decode(tiny, {sources[s]}, with_lag(lag));
            EXPECT_EQ(alone[0][0].tokens, together[s][0].tokens);
            EXPECT_EQ(alone[0][0].token_scores, together[s][0].token_scores);
        }
    }
}

TEST(FixedLag, IsRefusedWhereItHasNoEffect) {
    SearchOptions greedy = with_lag(2);
    greedy.beam = 1;
    EXPECT_THROW(greedy.check(), Error);
    SearchOptions drawn = with_lag(2);
    drawn.sample = true;
    EXPECT_THROW(drawn.check(), Error);
    EXPECT_THROW(with_lag(-1).check(), Error);
}

}  // namespace
}  // namespace fovea
