#include "fovea/metrics/perplexity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Perplexity, OfAFairCoin) {
    // 100 tokens of 2 bytes each; 99 of them foretold with probability 1/2.
    const MetricScore s = perplexity_score({.nats = 99 * std::log(2.0),
                                            .scored = 99,
                                            .tokens = 100,
                                            .bytes = 200,
                                            .context = 10,
                                            .stride = 5});
    EXPECT_NEAR(s.value, 2, 1e-12);
    EXPECT_NEAR(s.figures["bits_per_byte"].get<double>(), 0.5, 1e-12);
    EXPECT_NEAR(s.figures["loss"].get<double>(), std::log(2.0), 1e-12);
    EXPECT_FALSE(s.higher_is_better);
    EXPECT_TRUE(s.signature.starts_with("context:10|stride:5|")) << s.signature;
}

TEST(Perplexity, OfNothingIsAnError) {
    EXPECT_THROW(perplexity_score({.scored = 0, .tokens = 1}), Error);
}

}  // namespace
}  // namespace fovea
