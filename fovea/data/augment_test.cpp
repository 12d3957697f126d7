#include "fovea/data/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace fovea {
namespace {

const AugmentOptions everything{.shift = 0.2,
                                .scale = 0.3,
                                .mirror = true,
                                .turns = true,
                                .colour = 0.3,
                                .erase = 0.5,
                                .mixup = 0.4};

Picture numbered(std::uint32_t height, std::uint32_t width) {
    Picture p{height, width, 1, {}};
    for (std::uint32_t i = 0; i < height * width; ++i)
        p.pixels.push_back(static_cast<std::uint8_t>(i + 1));
    return p;
}

TEST(Augment, DrawsDependOnSeedEpochAndSampleAlone) {
    const Picture p = numbered(9, 7);
    std::set<std::vector<std::uint8_t>> seen;
    for (const DrawName& name :
         {DrawName{1, 0, 5}, DrawName{2, 0, 5}, DrawName{1, 1, 5}, DrawName{1, 0, 6}}) {
        const auto show = [&] {
            Picture to = placed(p, draw_placement(everything, p.height, p.width, name));
            change_light(to, everything, name);
            return to;
        };
        const Picture once = show();
        EXPECT_EQ(once, show());
        EXPECT_EQ(once.height, 9u);
        EXPECT_EQ(once.width, 7u);
        seen.insert(once.pixels);
    }
    EXPECT_EQ(seen.size(), 4u);
}

TEST(Augment, NothingAskedForChangesNothing) {
    const Picture p = numbered(5, 6);
    for (std::uint64_t i = 0; i < 20; ++i) {
        const DrawName name{3, 1, i};
        Picture to = placed(p, draw_placement({}, 5, 6, name));
        change_light(to, {}, name);
        EXPECT_EQ(to, p);
        EXPECT_EQ(draw_mix({}, 100, name).own, 1.0f);
    }
}

// Cuts lie within the picture, everywhere in it and at every size; without options in its middle.
TEST(Augment, CutsAreDrawnAllOverThePicture) {
    const AugmentOptions some{.scale = 0.4, .mirror = true, .turns = true};
    const CutSize size{.height = 100, .width = 80, .out_height = 32, .out_width = 32};
    std::set<int> ways;
    double top[2] = {1e9, -1e9}, left[2] = {1e9, -1e9}, scale[2] = {1e9, 0};
    const auto widen = [](double range[2], double x) {
        range[0] = std::min(range[0], x);
        range[1] = std::max(range[1], x);
    };
    for (std::uint64_t i = 0; i < 400; ++i) {
        const Cut c = draw_cut(some, size, {1, 0, i});
        const Rectangle& part = c.placement.part;
        EXPECT_TRUE(part.top >= 0 && part.top + part.height <= 100) << i;
        EXPECT_TRUE(part.left >= 0 && part.left + part.width <= 80) << i;
        EXPECT_NEAR(static_cast<double>(part.height), 32 / c.scale, 0.5) << i;
        widen(top, static_cast<double>(part.top) / static_cast<double>(100 - part.height));
        widen(left, static_cast<double>(part.left) / static_cast<double>(80 - part.width));
        widen(scale, c.scale);
        ways.insert(c.placement.quarter_turns * 2 + c.placement.mirrored);
    }
    EXPECT_EQ(ways.size(), 8u);
    for (const double* range : {top, left}) {
        EXPECT_LT(range[0], 0.02);
        EXPECT_GT(range[1], 0.98);
    }
    EXPECT_NEAR(scale[0], 1 / 1.4, 0.01);
    EXPECT_NEAR(scale[1], 1.4, 0.02);
    const Placement still = draw_cut({}, size, {1, 0, 7}).placement;
    EXPECT_EQ(still.part.top, 34);
    EXPECT_EQ(still.part.left, 24);
    EXPECT_EQ(still.part.height, 32);
    EXPECT_EQ(still.quarter_turns, 0);
    // What is no square stays upright or upside down.
    for (std::uint64_t i = 0; i < 40; ++i)
        EXPECT_EQ(draw_cut(some, {.height = 99, .width = 99, .out_height = 20, .out_width = 30},
                           {1, 0, i})
                          .placement.quarter_turns %
                      2,
                  0);
}

// A bright pixel and the box around it go the same way.
TEST(Augment, BoxesFollowThePicture) {
    int kept = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        Picture p{32, 48, 1, std::vector<std::uint8_t>(32 * 48, 0)};
        for (std::uint32_t y = 10; y < 18; ++y)
            for (std::uint32_t x = 20; x < 26; ++x) *p.at(y, x) = 200;
        Placement at = draw_placement(everything, 32, 48, {7, 0, i});
        at.height = 64;
        at.width = 64;
        const Picture to = placed(p, at, Resample::nearest);
        const auto box = placed(PictureBox{20, 10, 26, 18}, at, 0.0);
        double left = 1e9, top = 1e9, right = -1, bottom = -1;
        for (std::uint32_t y = 0; y < to.height; ++y)
            for (std::uint32_t x = 0; x < to.width; ++x)
                if (*to.at(y, x) == 200) {
                    left = std::min<double>(left, x);
                    top = std::min<double>(top, y);
                    right = std::max<double>(right, x + 1);
                    bottom = std::max<double>(bottom, y + 1);
                }
        if (!box) {
            EXPECT_LT(right, 0) << i;
            continue;
        }
        ++kept;
        ASSERT_GT(right, 0) << i;
        EXPECT_NEAR(box->left, left, 1.01) << i;
        EXPECT_NEAR(box->top, top, 1.01) << i;
        EXPECT_NEAR(box->right, right, 1.01) << i;
        EXPECT_NEAR(box->bottom, bottom, 1.01) << i;
    }
    EXPECT_GT(kept, 150);
}

TEST(Augment, QuarterTurnsAndMirrors) {
    const Picture p{2, 2, 1, {1, 2, 3, 4}};
    Placement at{.part = {0, 0, 2, 2}, .height = 2, .width = 2};
    at.quarter_turns = 1;
    EXPECT_EQ(placed(p, at).pixels, (std::vector<std::uint8_t>{2, 4, 1, 3}));
    at.mirrored = true;
    EXPECT_EQ(placed(p, at).pixels, (std::vector<std::uint8_t>{4, 2, 3, 1}));
    EXPECT_EQ(*placed(PictureBox{0, 0, 1, 1}, at), (PictureBox{1, 1, 2, 2}));
}

TEST(Augment, MixesByBetaAndDropsBoxesThatLeave) {
    double mean = 0, extremes = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const Mix m = draw_mix(everything, 50, {1, 2, i});
        EXPECT_LT(m.other, 50u);
        EXPECT_GE(m.own, 0.0f);
        EXPECT_LE(m.own, 1.0f);
        mean += m.own / 2000;
        extremes += (m.own < 0.1f || m.own > 0.9f) / 2000.0;
    }
    EXPECT_NEAR(mean, 0.5, 0.03);
    EXPECT_NEAR(extremes, 0.479, 0.04);  // Beta(0.4, 0.4), as scipy has it
    const Placement at{.part = {0, 0, 4, 4}, .height = 4, .width = 4};
    EXPECT_FALSE(placed(PictureBox{3.5, 0, 7.5, 4}, at));  // an eighth is left
    EXPECT_TRUE(placed(PictureBox{3.5, 0, 7.5, 4}, at, 0.1));
}

}  // namespace
}  // namespace fovea
