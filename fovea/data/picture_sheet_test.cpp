#include "fovea/data/picture_sheet.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

Picture filled(std::uint8_t v) {
    Picture p = blank_picture(2, 3, 1, "filled");
    std::fill(p.pixels.begin(), p.pixels.end(), v);
    return p;
}

TEST(PictureSheet, PutsPicturesSideBySide) {
    const std::vector<std::vector<Picture>> rows{{filled(10), filled(20)}, {filled(30)}};
    const Picture s = picture_sheet(rows, {.scale = 2, .gap = 1, .ground = 99});
    ASSERT_EQ(s.height, 2 * (2 * 2 + 1) + 1u);
    ASSERT_EQ(s.width, 2 * (3 * 2 + 1) + 1u);
    EXPECT_EQ(*s.at(0, 0), 99);
    EXPECT_EQ(*s.at(1, 1), 10);
    EXPECT_EQ(*s.at(4, 6), 10);
    EXPECT_EQ(*s.at(4, 7), 99);
    EXPECT_EQ(*s.at(1, 8), 20);
    EXPECT_EQ(*s.at(6, 1), 30);
    EXPECT_EQ(*s.at(6, 8), 99);  // a row may be shorter
    EXPECT_THROW(picture_sheet({}), Error);
}

TEST(PictureSheet, FindsTheNearest) {
    const std::vector<Picture> among{filled(90), filled(50), filled(41), filled(50)};
    EXPECT_EQ(nearest_pictures(filled(45), among, 3), (std::vector<std::size_t>{2, 1, 3}));
    EXPECT_EQ(nearest_pictures(filled(45), among, 9).size(), 4u);
}

}  // namespace
}  // namespace fovea
