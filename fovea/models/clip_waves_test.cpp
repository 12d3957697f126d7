#include "fovea/models/clip_waves.h"

#include <gtest/gtest.h>

#include <span>

namespace fovea {
namespace {

double distance(std::span<const float> table, std::size_t width, std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t c = 0; c < width; ++c) {
        const double d =
            static_cast<double>(table[a * width + c]) - static_cast<double>(table[b * width + c]);
        sum += d * d;
    }
    return sum;
}

std::vector<float> begun(const Init& init, int rows, int width) {
    Tensor t({1, rows, width});
    Rng rng(1, 0);
    init(t, rng);
    return {t.data(), t.data() + t.size()};
}

TEST(ClipWaves, NeighboursLookAlikeAndAllDiffer) {
    for (const std::size_t width : {6, 24, 96}) {
        const std::vector<float> t = begun(frame_waves(8), 8, static_cast<int>(width));
        for (std::size_t a = 0; a < 8; ++a)
            for (std::size_t b = a + 1; b < 8; ++b) EXPECT_GT(distance(t, width, a, b), 1e-4);
        EXPECT_LT(distance(t, width, 3, 4), distance(t, width, 3, 6)) << width;
    }
    const std::vector<float> p = begun(place_waves(4), 17, 96);
    for (std::size_t a = 0; a < 17; ++a)
        for (std::size_t b = a + 1; b < 17; ++b)
            EXPECT_GT(distance(p, 96, a, b), 1e-2) << a << " " << b;
    EXPECT_LT(distance(p, 96, 1, 2), distance(p, 96, 1, 6));  // a neighbour, and one aslant
}

TEST(ClipWaves, FramesAndPlacesHaveColumnsOfTheirOwn) {
    const std::vector<float> t = begun(frame_waves(8), 8, 96), p = begun(place_waves(4), 17, 96);
    for (std::size_t c = 0; c < 96; ++c)
        for (std::size_t f = 0; f < 8; ++f)
            for (std::size_t r = 0; r < 17; ++r) EXPECT_EQ(t[f * 96 + c] * p[r * 96 + c], 0.0f);
}

}  // namespace
}  // namespace fovea
