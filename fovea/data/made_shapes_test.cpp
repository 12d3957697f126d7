#include "fovea/data/made_shapes.h"

#include <gtest/gtest.h>

#include <set>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(MadeShapes, DependOnSeedAndNumberAlone) {
    const MadeShapes o{.count = 3, .size = 40, .kinds = 3, .seed = 4};
    MadeShapes more = o;
    more.count = 300;
    EXPECT_EQ(made_shapes(o, 2).picture, made_shapes(more, 2).picture);
    EXPECT_NE(made_shapes(o, 2).picture, made_shapes(o, 1).picture);
    more.seed = 5;
    EXPECT_NE(made_shapes(o, 2).picture, made_shapes(more, 2).picture);
}

// What a mask says is there stands out from the ground, and every kind occurs.
TEST(MadeShapes, MasksTellTheShapesFromTheGround) {
    const MadeShapes o{.size = 48, .seed = 2};
    std::set<int> kinds;
    for (std::int64_t i = 0; i < 20; ++i) {
        const ShapesPicture made = made_shapes(o, i);
        for (std::uint32_t y = 0; y < o.size; ++y)
            for (std::uint32_t x = 0; x < o.size; ++x) {
                const int kind = *made.mask.at(y, x);
                kinds.insert(kind);
                EXPECT_EQ(made.picture.at(y, x)[0] >= 110, kind > 0);
            }
    }
    EXPECT_EQ(kinds, (std::set<int>{0, 1, 2, 3}));
    for (const std::uint8_t v : made_shapes({.size = 48, .kinds = 1}, 0).mask.pixels)
        EXPECT_TRUE(v == 0 || v == 255);
    EXPECT_THROW(made_shapes({.size = 8}, 0), Error);
    EXPECT_THROW(made_shapes({.kinds = 4}, 0), Error);
}

}  // namespace
}  // namespace fovea
