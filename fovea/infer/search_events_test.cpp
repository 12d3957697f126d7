// Listening to a search, and ending it early.
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "fovea/infer/beam_search.h"
#include "fovea/infer/test_language_model.h"

namespace fovea {
namespace {

TEST(SearchEvents, TheListenerHearsTheTokensOfTheResult) {
    const ToyModel model;
    for (const SearchOptions& o :
         {SearchOptions{}, SearchOptions{.beam = 4}, SearchOptions{.beam = 4, .early_stop = false},
          SearchOptions{.beam = 1, .early_stop = false},
          SearchOptions{.n_best = 3, .sample = true}}) {
        std::map<std::pair<std::int64_t, int>, Hypothesis> heard;
        std::map<std::pair<std::int64_t, int>, int> lasts;
        ToyStepper stepper(model, {1, 2});
        int first_at = -1;
        SearchHooks hooks;
        hooks.on_token = [&](const SearchEvent& e) {
            if (first_at < 0) first_at = stepper.steps;
            Hypothesis& h = heard[{e.sentence, e.sample}];
            (e.end ? h.end_token : h.tokens.emplace_back()) = e.token;
            h.token_scores.push_back(e.score);
            lasts[{e.sentence, e.sample}] += e.last;
            return true;
        };
        auto requests = toy_requests(30);
        requests[3].prefix = {9, 10};
        const auto found = search(stepper, o, requests, hooks);
        for (std::size_t s = 0; s < found.size(); ++s)
            for (const Hypothesis& h : found[s]) {
                const auto key = std::pair{static_cast<std::int64_t>(s), h.sample};
                EXPECT_EQ(heard[key].tokens, h.tokens);
                EXPECT_EQ(heard[key].token_scores, h.token_scores);
                EXPECT_EQ(heard[key].end_token, h.end_token);
                EXPECT_EQ(lasts[key], 1);
            }
        if (o.beam == 1) {
            EXPECT_EQ(first_at, 0);  // at once, not when all is over
        }
        ToyStepper silent(model, {1, 2});
        EXPECT_EQ(search(silent, o, requests)[2][0].tokens, found[2][0].tokens);
    }
}

TEST(SearchEvents, TheStopFlagAndTheListenerEndASearchEarly) {
    const ToyModel model;
    for (const SearchOptions& o :
         {SearchOptions{.min_length = 50}, SearchOptions{.beam = 3, .n_best = 3, .min_length = 50},
          SearchOptions{.n_best = 2, .min_length = 50, .sample = true}}) {
        std::atomic<bool> stop{false};
        class Stopping : public ToyStepper {
        public:
            Stopping(const ToyModel& m, std::atomic<bool>& flag) : ToyStepper(m), flag_(flag) {}
            Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override {
                if (steps == 6) flag_ = true;
                return ToyStepper::step(tokens, parents);
            }

        private:
            std::atomic<bool>& flag_;
        } stepper(model, stop);
        const auto found = search(stepper, o, toy_requests(60), {.stop = &stop});
        for (const auto& list : found) {
            ASSERT_EQ(list.size(), static_cast<std::size_t>(o.n_best));
            for (const Hypothesis& h : list) {
                EXPECT_FALSE(h.finished);
                EXPECT_EQ(h.tokens.size(), 8u);  // the prompt's and seven steps'
            }
        }
        ToyStepper never(model);
        for (const auto& list : search(never, o, toy_requests(60), {.stop = &stop}))
            EXPECT_TRUE(list[0].tokens.empty() && !list[0].finished);
        EXPECT_EQ(never.rows_read, 0);

        int heard = 0;  // the second sentence's listener goes away after four tokens
        SearchHooks hooks;
        hooks.on_token = [&](const SearchEvent& e) {
            return e.sentence != 1 || e.sample != 0 || ++heard < 4;
        };
        ToyStepper other(model), whole(model);
        const auto cut = search(other, o, toy_requests(60), hooks);
        EXPECT_EQ(heard, 4);
        for (const Hypothesis& h : cut[1])
            if (o.beam == 1 && h.sample == 0) {
                EXPECT_EQ(h.tokens.size(), 4u);
                EXPECT_FALSE(h.finished);
            }
        EXPECT_EQ(cut[2][0].tokens, search(whole, o, toy_requests(60))[2][0].tokens);
    }
}

}  // namespace
}  // namespace fovea
