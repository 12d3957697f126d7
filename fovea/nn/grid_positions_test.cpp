#include "fovea/nn/grid_positions.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// transformers 5.22, DetrSinePositionEmbedding(4, normalize=True) for 2 x 3 positions, in float64.
TEST(GridSinusoid, NumbersOfDetr) {
    const Tensor y = grid_sinusoid({2, 2, 3}, 8);
    ASSERT_EQ(y.shape(), (Shape{12, 8}));
    const float want[] = {
        0.00000157f,  -1.00000000f, 0.03141074f,  0.99950656f,  0.86602575f,  -0.49999940f,
        0.02094241f,  0.99978068f,  0.00000157f,  -1.00000000f, 0.03141074f,  0.99950656f,
        -0.86602471f, -0.50000121f, 0.04187564f,  0.99912283f,  0.00000157f,  -1.00000000f,
        0.03141074f,  0.99950656f,  -0.00000209f, 1.00000000f,  0.06279050f,  0.99802673f,
        -0.00000314f, 1.00000000f,  0.06279049f,  0.99802673f,  0.86602575f,  -0.49999940f,
        0.02094241f,  0.99978068f,  -0.00000314f, 1.00000000f,  0.06279049f,  0.99802673f,
        -0.86602471f, -0.50000121f, 0.04187564f,  0.99912283f,  -0.00000314f, 1.00000000f,
        0.06279049f,  0.99802673f,  -0.00000209f, 1.00000000f,  0.06279050f,  0.99802673f};
    for (int image = 0; image < 2; ++image)
        for (int i = 0; i < 48; ++i)
            EXPECT_NEAR(y.data()[image * 48 + i], want[i], 1e-6) << image << ": " << i;
}

TEST(GridSinusoid, RowsHaveTheirPicturesNames) {
    const Tensor y = grid_sinusoid({3, 1, 5}, 4);
    ASSERT_TRUE(y.row_names().has_value());
    EXPECT_EQ(y.row_names()->count(), 3);
    EXPECT_EQ(y.row_names()->length(1), 5);
    EXPECT_EQ(grid_sinusoid({0, 4, 5}, 4).rows(), 0);
}

TEST(GridSinusoid, WidthsThatDoNotSplitAreRefused) {
    for (const int width : {0, -4, 6, 7}) EXPECT_THROW(grid_sinusoid({1, 2, 2}, width), Error);
}

}  // namespace
}  // namespace fovea
