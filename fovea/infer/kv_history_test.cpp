#include "fovea/infer/kv_history.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// A cache whose keys are the tokens themselves shows whether a history finds the right rows.
class TokenCache {
public:
    std::vector<Ids> start(const std::vector<Ids>& prompts) {
        const Visibility sees = history.start(prompts);
        Ids tokens;
        for (const Ids& p : prompts) tokens.insert(tokens.end(), p.begin(), p.end());
        return append(tokens, sees);
    }
    std::vector<Ids> advance(const Ids& tokens, const std::vector<std::int64_t>& parents) {
        return append(tokens, history.advance(parents));
    }

    KvHistory history;
    KvCache cache;

private:
    // What the last new row of each sequence sees, in logical order.
    std::vector<Ids> append(const Ids& tokens, const Visibility& sees) {
        history.prepare(cache, 1, 1);
        Tensor k({static_cast<std::int64_t>(tokens.size()), 1});
        for (std::size_t i = 0; i < tokens.size(); ++i)
            k.write()[i] = static_cast<float>(tokens[i]);
        cache.append(k, k);
        EXPECT_EQ(sees.keys(), cache.capacity());
        std::vector<Ids> seen;
        const VisibilityView view = sees.view();
        for (const VisibleGroup& g : view.groups) {
            seen.emplace_back();
            for (const KeyInterval& all : view.of_row(g.q_end - 1))
                for (std::int64_t i = all.begin; i < all.end; ++i)
                    seen.back().push_back(static_cast<std::int32_t>(
                        cache.values().data()[packed_row(view.runs_of(g), i)]));
        }
        return seen;
    }
};

TEST(KvHistory, HypothesesShareTheirPromptAndSeeTheirOwnPast) {
    TokenCache c;
    EXPECT_EQ(c.start({{1, 2, 3}, {4}}), (std::vector<Ids>{{1, 2, 3}, {4}}));
    EXPECT_EQ(c.history.fresh().total(), 4);
    // Three samples of the first prompt, one of the second: no row of a prompt is copied.
    EXPECT_EQ(c.advance({5, 6, 7, 8}, {0, 0, 0, 1}),
              (std::vector<Ids>{{1, 2, 3, 5}, {1, 2, 3, 6}, {1, 2, 3, 7}, {4, 8}}));
    EXPECT_EQ(c.cache.rows(), 8);
    EXPECT_EQ(c.history.positions().first, (std::vector<std::int64_t>{3, 3, 3, 1}));
    EXPECT_EQ(c.advance({9, 10, 11}, {3, 2, 2}),
              (std::vector<Ids>{{4, 8, 9}, {1, 2, 3, 7, 10}, {1, 2, 3, 7, 11}}));
    EXPECT_EQ(c.history.positions().first, (std::vector<std::int64_t>{2, 4, 4}));
    EXPECT_EQ(c.history.prompt_of(0), 1);
    EXPECT_EQ(c.history.prompt_of(2), 0);
}

TEST(KvHistory, MemoryFollowsTheLiveHypotheses) {
    TokenCache c;
    c.start({{1}});
    c.advance({3, 4, 5, 6}, {0, 0, 0, 0});
    Ids trunk = {1, 4};
    // A fork into four at every step, of which one survives the next.
    for (std::int32_t t = 7; t < 3007; t += 4) {
        std::vector<Ids> expected(4, trunk);
        Ids tokens;
        for (std::size_t i = 0; i < 4; ++i) {
            tokens.push_back(t + static_cast<std::int32_t>(i));
            expected[i].push_back(tokens.back());
        }
        ASSERT_EQ(c.advance(tokens, {1, 1, 1, 1}), expected) << t;
        trunk = expected[1];
    }
    EXPECT_LE(c.cache.capacity(), 2048);  // 3,005 rows were made, 755 are alive
}

// One long text among many short ones: the rows of those that ended are used again.
TEST(KvHistory, RowsOfEndedSentencesAreUsedAgain) {
    TokenCache c;
    std::vector<Ids> prompts(100, Ids{1, 2, 3, 4, 5});
    c.start(prompts);
    std::vector<Ids> one = {prompts[0]};
    for (std::int32_t t = 0; t < 400; ++t) {
        one[0].push_back(t);
        ASSERT_EQ(c.advance({t}, {0}), one);
    }
    EXPECT_EQ(c.cache.capacity(), 500);  // as many as the prompts had
    EXPECT_EQ(c.cache.rows(), 405);
}

TEST(KvHistory, WrongCallsAreErrors) {
    KvHistory h;
    EXPECT_THROW(h.advance(std::vector<std::int64_t>{0}), Error);
    EXPECT_THROW(h.start(std::vector<Ids>{{1}, {}}), Error);
    KvHistory g;
    g.start(std::vector<Ids>{{1}});
    EXPECT_THROW(g.start(std::vector<Ids>{{1}}), Error);
    EXPECT_THROW(g.advance(std::vector<std::int64_t>{1}), Error);
    KvCache behind;  // got no rows at the start
    g.advance(std::vector<std::int64_t>{0});
    EXPECT_THROW(g.prepare(behind, 2, 2), Error);
}

}  // namespace
}  // namespace fovea
