#include "fovea/ops/rows/top_k.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace fovea {
namespace {

TEST(TopScores, SortedTiesAndSampling) {
    const Tensor logits = Tensor::of({2, 6}, {1, 5, 3, 5, -2, 0, 0, 0, 0, 0, 0, 100});
    const auto rows = top_scores(logits, 4);
    EXPECT_EQ(rows[0].best, (std::vector<std::int32_t>{1, 3, 2, 0}));
    double sum = 0;
    for (int t = 0; t < 6; ++t) sum += std::exp(static_cast<double>(rows[0].log_prob(t)));
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NEAR(rows[1].log_probs[0], 0, 1e-6);
    EXPECT_EQ(rows[0].sample(0.0, {}).first, 0);
    EXPECT_EQ(rows[0].sample(0.9999999, {.top_k = 2}).first, 3);  // of the two best, the second
    EXPECT_EQ(rows[0].sample(0.9999999, {.top_p = 0.01}).first, 1);
    // e^(5-5) = 1 twice, e^(3-5) = 0.135, e^(1-5) = 0.018
    EXPECT_EQ(rows[0].kept({.min_p = 0.1}).tokens, (std::vector<std::int32_t>{1, 3, 2}));
    EXPECT_EQ(rows[0].kept({.min_p = 1}).tokens, (std::vector<std::int32_t>{1, 3}));
    EXPECT_EQ(rows[0].kept({.temperature = 4, .min_p = 0.3}).tokens.size(), 4u);
    const float inf = std::numeric_limits<float>::infinity();
    EXPECT_EQ(top_scores(Tensor::of({1, 3}, {-inf, 2, -inf}), 1)[0].log_probs[0], 0);
}

// A search relies on it to find a model with damaged weights.
TEST(TopScores, OneValueThatIsNotANumberSpoilsTheSum) {
    for (const int at : {0, 7, 40}) {
        Tensor logits = Tensor::zeros({1, 41});
        logits.write()[at] = std::numeric_limits<float>::quiet_NaN();
        EXPECT_TRUE(std::isnan(top_scores(logits, 2)[0].log_sum_exp)) << at;
    }
}

}  // namespace
}  // namespace fovea
