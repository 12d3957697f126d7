#include "fovea/data/made_clips.h"

#include <gtest/gtest.h>

#include <numeric>

namespace fovea {
namespace {

// Where the bright pixels are, on average.
struct Centre {
    double x = 0, y = 0, mass = 0;
};

Centre centre_of(const Picture& p) {
    Centre c;
    const double mean = std::accumulate(p.pixels.begin(), p.pixels.end(), 0.0) /
                        static_cast<double>(p.pixels.size());
    for (std::uint32_t y = 0; y < p.height; ++y)
        for (std::uint32_t x = 0; x < p.width; ++x) {
            const double light = std::max(0.0, *p.at(y, x) - mean - 30);
            c.x += x * light;
            c.y += y * light;
            c.mass += light;
        }
    c.x /= std::max(c.mass, 1.0);
    c.y /= std::max(c.mass, 1.0);
    return c;
}

TEST(MadeClips, MoveAsTheirNamesSay) {
    for (std::int64_t i = 0; i < 80; ++i) {
        const MadeClip clip = made_clip(i, {.noise = 2});
        ASSERT_EQ(clip.frames.size(), 8u);
        const Centre a = centre_of(clip.frames.front()), b = centre_of(clip.frames.back());
        if (clip.motion == "left") {
            EXPECT_LT(b.x, a.x - 4) << i;
        }
        if (clip.motion == "right") {
            EXPECT_GT(b.x, a.x + 4) << i;
        }
        if (clip.motion == "up") {
            EXPECT_LT(b.y, a.y - 4) << i;
        }
        if (clip.motion == "down") {
            EXPECT_GT(b.y, a.y + 4) << i;
        }
        // y points down: clockwise is from x towards y, and the sum of cross products is positive.
        double turned = 0;
        for (std::size_t f = 1; f + 1 < clip.frames.size(); ++f) {
            const Centre p = centre_of(clip.frames[f - 1]), q = centre_of(clip.frames[f]),
                         r = centre_of(clip.frames[f + 1]);
            turned += (q.x - p.x) * (r.y - q.y) - (q.y - p.y) * (r.x - q.x);
        }
        if (clip.motion == "clockwise") {
            EXPECT_GT(turned, 0.5) << i;
        }
        if (clip.motion == "anticlockwise") {
            EXPECT_LT(turned, -0.5) << i;
        }
        if (clip.motion == "growing") {
            EXPECT_GT(b.mass, a.mass * 1.5) << i;
        }
        if (clip.motion == "shrinking") {
            EXPECT_LT(b.mass * 1.5, a.mass) << i;
        }
    }
}

TEST(MadeClips, TheSeedAndTheNumberDecideAll) {
    EXPECT_EQ(made_clip(11, {}).frames, made_clip(11, {}).frames);
    EXPECT_NE(made_clip(11, {}).frames, made_clip(19, {}).frames);
    EXPECT_NE(made_clip(11, {}).frames, made_clip(11, {.seed = 2}).frames);
}

}  // namespace
}  // namespace fovea
