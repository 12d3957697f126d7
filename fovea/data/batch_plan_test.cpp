#include "fovea/data/batch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/rng.h"

namespace fovea {
namespace {

std::vector<std::int64_t> flat(const BatchPlan& p) {
    std::vector<std::int64_t> all;
    for (std::int64_t b = 0; b < p.batches(); ++b) all.insert(all.end(), p[b].begin(), p[b].end());
    return all;
}

TEST(BatchPlan, EveryExampleOnceWithinTheBounds) {
    Rng rng(5);
    for (int round = 0; round < 60; ++round) {
        std::vector<std::int64_t> lengths(static_cast<std::size_t>(rng.below(700)));
        for (auto& n : lengths) n = 1 + rng.below(80);
        const BatchOptions o{.max_tokens = 50 + rng.below(400),
                             .max_examples = rng.below(9),
                             .shuffle = rng.below(2) == 1,
                             .bucket = rng.below(2) == 1,
                             .seed = rng.bits()};
        const BatchPlan plan(lengths, o, round);
        std::vector<std::int64_t> all = flat(plan);
        std::sort(all.begin(), all.end());
        ASSERT_EQ(all.size(), lengths.size());
        for (std::size_t i = 0; i < all.size(); ++i)
            ASSERT_EQ(all[i], static_cast<std::int64_t>(i));
        for (std::int64_t b = 0; b < plan.batches(); ++b) {
            std::int64_t tokens = 0;
            for (const std::int64_t i : plan[b]) tokens += lengths[static_cast<std::size_t>(i)];
            EXPECT_TRUE(tokens <= o.max_tokens || plan[b].size() == 1);
            EXPECT_TRUE(o.max_examples == 0 ||
                        static_cast<std::int64_t>(plan[b].size()) <= o.max_examples);
        }
    }
}

TEST(BatchPlan, AFunctionOfSeedAndEpochAlone) {
    std::vector<std::int64_t> lengths(500);
    for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = 1 + static_cast<std::int64_t>(i * 7 % 31);
    const BatchOptions o{.max_tokens = 100, .seed = 9};
    EXPECT_EQ(flat(BatchPlan(lengths, o, 3)), flat(BatchPlan(lengths, o, 3)));
    EXPECT_NE(flat(BatchPlan(lengths, o, 3)), flat(BatchPlan(lengths, o, 4)));
    EXPECT_EQ(
        flat(BatchPlan(lengths, {.max_tokens = 100, .shuffle = false, .bucket = false}, 0))[7], 7);
}

}  // namespace
}  // namespace fovea
