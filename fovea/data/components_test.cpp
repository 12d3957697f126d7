#include "fovea/data/components.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

TEST(Components, MeasuresWhatHangsTogether) {
    const std::vector<std::uint8_t> labels = {
        1, 0, 0, 0, 2,  //
        0, 1, 0, 0, 2,  // by a corner is together
        0, 0, 0, 1, 2,  // another label is not
        3, 0, 0, 0, 0,
    };
    const Components c = connected_components(labels, 4, 5);
    ASSERT_EQ(c.all.size(), 4u);
    EXPECT_EQ(c.all[0].label, 1);
    EXPECT_EQ(c.all[0].area, 2);
    EXPECT_DOUBLE_EQ(c.all[0].centre_y, 1.0);
    EXPECT_DOUBLE_EQ(c.all[0].centre_x, 1.0);
    EXPECT_EQ(c.all[1].label, 2);
    EXPECT_EQ(c.all[1].area, 3);
    EXPECT_EQ(c.all[1].left, 4u);
    EXPECT_EQ(c.all[1].height, 3u);
    EXPECT_EQ(c.all[1].width, 1u);
    EXPECT_EQ(c.all[2].top, 2u);
    EXPECT_EQ(c.of_pixel[0], 0);
    EXPECT_EQ(c.of_pixel[1], -1);
    EXPECT_EQ(c.of_pixel[15], 3);
    const Components large = connected_components(labels, 4, 5, 2);
    EXPECT_EQ(large.all.size(), 2u);
    EXPECT_EQ(large.of_pixel[15], -1);
    EXPECT_EQ(large.of_pixel[4], 1);
    EXPECT_THROW(connected_components(labels, 4, 4), Error);
}

// Against the slow way: numbers that spread until nothing changes.
TEST(Components, EqualNumbersThatSpread) {
    Rng rng(4);
    for (int n = 0; n < 60; ++n) {
        const std::uint32_t h = 1 + static_cast<std::uint32_t>(rng.below(9)),
                            w = 1 + static_cast<std::uint32_t>(rng.below(9));
        std::vector<std::uint8_t> labels(std::size_t{h} * w);
        for (auto& l : labels) l = static_cast<std::uint8_t>(rng.below(3));
        std::vector<std::int64_t> number(labels.size());
        for (std::size_t i = 0; i < labels.size(); ++i) number[i] = static_cast<std::int64_t>(i);
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t a = 0; a < labels.size(); ++a)
                for (std::size_t b = 0; b < labels.size(); ++b) {
                    const auto dy = static_cast<int>(a / w) - static_cast<int>(b / w),
                               dx = static_cast<int>(a % w) - static_cast<int>(b % w);
                    if (labels[a] != labels[b] || std::abs(dy) > 1 || std::abs(dx) > 1 ||
                        number[a] <= number[b])
                        continue;
                    number[a] = number[b];
                    changed = true;
                }
        }
        const Components c = connected_components(labels, h, w);
        std::map<std::int64_t, std::int32_t> seen;
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (labels[i] == 0) {
                EXPECT_EQ(c.of_pixel[i], -1);
                continue;
            }
            EXPECT_EQ(seen.emplace(number[i], c.of_pixel[i]).first->second, c.of_pixel[i]);
        }
        EXPECT_EQ(seen.size(), c.all.size());
    }
}

}  // namespace
}  // namespace fovea
