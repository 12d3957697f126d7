#include "fovea/metrics/masks.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using Pixels = std::vector<std::uint8_t>;

TEST(Masks, DiceAndIouByHand) {
    MaskScorer scorer({});
    const MaskShares one = scorer.add(Pixels{1, 1, 0, 0}, Pixels{1, 0, 0, 0});
    EXPECT_DOUBLE_EQ(one.dice, 2.0 / 3);
    EXPECT_DOUBLE_EQ(one.iou, 0.5);
    scorer.add(Pixels{1, 1, 1, 0}, Pixels{1, 1, 1, 0});
    const MaskScore s = scorer.score();
    EXPECT_DOUBLE_EQ(s.mean.dice, (2.0 / 3 + 1) / 2);
    EXPECT_DOUBLE_EQ(s.mean.iou, 0.75);
    EXPECT_DOUBLE_EQ(s.pooled.dice, 2.0 * 4 / 9);
    EXPECT_DOUBLE_EQ(s.pooled.iou, 4.0 / 5);
    EXPECT_DOUBLE_EQ(s.accuracy, 7.0 / 8);
    EXPECT_EQ(s.pictures, 2);
    EXPECT_EQ(s.signature.rfind("classes:foreground|empty:1|", 0), 0u) << s.signature;
}

TEST(Masks, EmptyMasksFollowTheRule) {
    const Pixels none(4, 0), some{0, 1, 0, 0};
    for (const EmptyMask empty : {EmptyMask::one, EmptyMask::skip}) {
        MaskScorer scorer({.empty = empty});
        scorer.add(some, none);  // found where there is nothing: 0 by either rule
        scorer.add(none, none);
        EXPECT_DOUBLE_EQ(scorer.score().mean.dice, empty == EmptyMask::one ? 0.5 : 0.0);
    }
}

TEST(Masks, IgnoredPixelsDoNotCount) {
    MaskScorer scorer({});
    scorer.add(Pixels{1, 1, 0, 1}, Pixels{1, 255, 255, 1});
    EXPECT_DOUBLE_EQ(scorer.score().mean.dice, 1);
    EXPECT_DOUBLE_EQ(scorer.score().accuracy, 1);
}

TEST(Masks, SeveralClassesAreAllScored) {
    MaskScorer scorer({.classes = 3, .empty = EmptyMask::skip});
    scorer.add(Pixels{0, 0, 1, 2}, Pixels{0, 1, 1, 2});
    scorer.add(Pixels{0, 0, 1, 1}, Pixels{0, 0, 1, 1});  // class 2 is skipped
    const MaskScore s = scorer.score();
    ASSERT_EQ(s.classes.size(), 3u);
    EXPECT_DOUBLE_EQ(s.classes[0].iou, (0.5 + 1) / 2);
    EXPECT_DOUBLE_EQ(s.classes[1].iou, (0.5 + 1) / 2);
    EXPECT_DOUBLE_EQ(s.classes[2].iou, 1);
    EXPECT_DOUBLE_EQ(s.mean.iou, (0.75 + 0.75 + 1) / 3);
    EXPECT_DOUBLE_EQ(s.pooled.iou, (3.0 / 4 + 3.0 / 4 + 1) / 3);
    const std::vector<std::string> labels{"back", "cat", "dog"};
    EXPECT_DOUBLE_EQ(s.score(labels).figures["classes"]["cat"]["iou"].get<double>(), 75);
}

TEST(Masks, OtherSizesAreRefused) {
    MaskScorer scorer({});
    EXPECT_THROW(scorer.add(Pixels{1}, Pixels{1, 0}), Error);
    EXPECT_THROW(scorer.add(Pixels{2}, Pixels{1}), Error);
    EXPECT_THROW(MaskScorer({.classes = 1}), Error);
}

}  // namespace
}  // namespace fovea
