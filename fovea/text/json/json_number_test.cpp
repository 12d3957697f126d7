#include "fovea/text/json/json_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fovea/base/rng.h"

namespace fovea::text {
namespace {

TEST(JsonNumber, ReadsAsTokenizersDoes) {
    // Seen in tokenizers 0.23.3: from_str() of the left number, to_str() gives the right one.
    EXPECT_EQ(as_tokenizers_reads(-7.4182395744038265), -7.418239574403827);
    EXPECT_EQ(as_tokenizers_reads(-3.5), -3.5);
    EXPECT_EQ(as_tokenizers_reads(0.0), 0.0);
    EXPECT_EQ(as_tokenizers_reads(-12.125), -12.125);
    EXPECT_EQ(as_tokenizers_reads(1e-300), 1e-300);
    EXPECT_EQ(as_tokenizers_reads(123456789.0), 123456789.0);
    EXPECT_TRUE(std::isinf(as_tokenizers_reads(-std::numeric_limits<double>::infinity())));
}

TEST(JsonNumber, WhatIsReadSurvivesWritingAndReading) {
    Rng rng(6);
    int changed = 0;
    for (int i = 0; i < 300000; ++i) {
        const double exact =
            i % 3 ? -rng.uniform(0, i % 2 ? 20 : 1000) : static_cast<float>(-rng.uniform(0, 20));
        const double x = as_tokenizers_reads(exact);
        ASSERT_NEAR(x, exact, 1e-12);
        ASSERT_EQ(as_tokenizers_reads(x), x);
        changed += x != exact;
    }
    EXPECT_GT(changed, 1000);
}

}  // namespace
}  // namespace fovea::text
