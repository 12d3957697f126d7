#include "fovea/ops/positions.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

TEST(Sinusoid, IsThePapersFormula) {
    const Segments s = Segments::of_lengths({3, 0, 5});
    const Tensor y = sinusoid(s, 6);
    ASSERT_EQ(y.shape(), Shape({8, 6}));
    for (std::int64_t row = 0; row < 8; ++row) {
        const double p = static_cast<double>(row < 3 ? row : row - 3);
        for (std::int64_t i = 0; i < 3; ++i) {
            const double angle = p / std::pow(10000.0, 2.0 * static_cast<double>(i) / 6);
            EXPECT_NEAR(y.at(row, 2 * i), std::sin(angle), 1e-7);
            EXPECT_NEAR(y.at(row, 2 * i + 1), std::cos(angle), 1e-7);
        }
    }
    EXPECT_EQ(*y.row_names(), s);
    EXPECT_EQ(sinusoid(s, 5).cols(), 5);
}

TEST(Sinusoid, OtherFormsAndOtherStarts) {
    const Segments s = Segments::of_lengths({2, 1});
    const Tensor halves = sinusoid(s, 4, SinusoidForm::halves, {.offset = 2, .first = {0, 300}});
    EXPECT_NEAR(halves.at(1, 0), std::sin(3.0), 1e-6);
    EXPECT_NEAR(halves.at(1, 2), std::cos(3.0), 1e-6);
    EXPECT_NEAR(halves.at(2, 1), std::sin(302 * 0.01), 1e-6);
    const Tensor spread = sinusoid(s, 6, SinusoidForm::spread);
    EXPECT_NEAR(spread.at(1, 2), std::sin(1e-4), 1e-9);
    EXPECT_NEAR(spread.at(1, 3), std::cos(1.0), 1e-6);
    EXPECT_THROW(sinusoid(s, 4, SinusoidForm::paper, {.first = {0}}), Error);
    EXPECT_THROW(sinusoid(s, 0), Error);
}

TEST(LearnedPositions, GatherAndName) {
    Rng rng(1);
    const Segments s = Segments::of_lengths({2, 3});
    check_op({.inputs = {random_tensor({6, 4}, rng)},
              .op =
                  [&](const std::vector<Tensor>& x) {
                      const Tensor y = learned_positions(x[0], s, {.offset = 2});
                      EXPECT_EQ(*y.row_names(), s);
                      return y;
                  },
              .reference =
                  [&](const std::vector<Doubles>& x) {
                      Doubles y;
                      for (const int p : {2, 3, 2, 3, 4})
                          y.insert(y.end(), x[0].begin() + p * 4, x[0].begin() + p * 4 + 4);
                      return y;
                  }});
    EXPECT_THROW(learned_positions(random_tensor({2, 4}, rng), s), Error);
}

}  // namespace
}  // namespace fovea
