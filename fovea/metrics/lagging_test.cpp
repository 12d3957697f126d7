#include "fovea/metrics/lagging.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Ma et al. 2019: equal lengths and wait-k lag by k; everything read first lags by n.
TEST(AverageLagging, OfTheCasesThePaperNames) {
    EXPECT_DOUBLE_EQ(average_lagging(10, 10, 3), 3);
    EXPECT_DOUBLE_EQ(average_lagging(10, 10, 1), 1);
    EXPECT_DOUBLE_EQ(average_lagging(7, 12, 7), 7);
    EXPECT_DOUBLE_EQ(average_lagging(7, 12, 100), 7);
}

// By hand: n = 4, m = 2, k = 2: read 2, 3 at t = 1, 2; the pace is 2 source tokens a target token.
TEST(AverageLagging, OfTargetsOfOtherLengths) {
    EXPECT_DOUBLE_EQ(average_lagging(4, 2, 2), (2 + (3 - 2)) / 2.0);
    // n = 2, m = 4, k = 1: read 1, 2; the pace is a half.
    EXPECT_DOUBLE_EQ(average_lagging(2, 4, 1), (1 + (2 - 0.5)) / 2.0);
    EXPECT_DOUBLE_EQ(average_lagging(1, 1, 1), 1);
}

TEST(AverageLagging, MeanOverTexts) {
    AverageLagging lagging;
    EXPECT_EQ(lagging.mean(), 0);
    lagging.add(10, 10, 3);
    lagging.add(7, 12, 7);
    lagging.add(5, 0, 3);  // nothing was written: nothing lags
    EXPECT_DOUBLE_EQ(lagging.mean(), 5);
    EXPECT_THROW(average_lagging(0, 1, 1), Error);
    EXPECT_THROW(average_lagging(1, 1, 0), Error);
}

}  // namespace
}  // namespace fovea
