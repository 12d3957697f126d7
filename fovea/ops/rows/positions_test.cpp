#include "fovea/ops/rows/positions.h"

#include "fovea/ops/arithmetic.h"
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

Doubles rotated(const Doubles& x, const Ids& positions, std::int64_t heads, std::int64_t dk) {
    Doubles y(x.size());
    for (std::size_t r = 0; r < positions.size(); ++r)
        for (std::int64_t h = 0; h < heads; ++h)
            for (std::int64_t i = 0; i < dk; i += 2) {
                const std::size_t at =
                    r * static_cast<std::size_t>(heads * dk) + static_cast<std::size_t>(h * dk + i);
                const double angle = positions[r] * std::pow(10000.0, -static_cast<double>(i) /
                                                                          static_cast<double>(dk));
                y[at] = x[at] * std::cos(angle) - x[at + 1] * std::sin(angle);
                y[at + 1] = x[at] * std::sin(angle) + x[at + 1] * std::cos(angle);
            }
    return y;
}

TEST(Rotary, TurnsPairsByPosition) {
    Rng rng(2);
    const Segments s = Segments::of_lengths({3, 0, 5, 1});
    const Positions at{.offset = 2, .first = {0, 0, 40, 700}};
    for (const auto& [heads, dk] : {std::pair{1, 2}, {3, 6}, {2, 64}}) {
        check_op({.inputs = {random_tensor({9, heads * dk}, rng)},
                  .op =
                      [&, h = heads](const std::vector<Tensor>& x) {
                          const Tensor y = rotary(x[0], h, s, at);
                          EXPECT_EQ(*y.row_names(), s);
                          return y;
                      },
                  .reference =
                      [&, h = heads, k = dk](const std::vector<Doubles>& x) {
                          return rotated(x[0], position_ids(s, at), h, k);
                      }});
    }
    EXPECT_THROW(rotary(random_tensor({9, 9}, rng), 3, s), Error);  // 3 columns per head
    EXPECT_THROW(rotary(random_tensor({9, 8}, rng), 3, s), Error);
    EXPECT_THROW(rotary(random_tensor({8, 8}, rng), 2, s), Error);
}

// A gradient that meets another one of the same tensor is added to it.
TEST(Rotary, GradientsAddUp) {
    Rng rng(3);
    const Segments s = Segments::of_lengths({4});
    const Tensor x = random_tensor({4, 8}, rng), dy = random_tensor({4, 8}, rng);
    Tape tape;
    const Tensor watched = tape.watch(Tensor::of(x.shape(), x.span()));
    const Tensor y = rotary(watched, 2, s) + watched;
    const Tensor g = tape.gradients(y, dy)[watched];
    const Doubles back = [&] {
        Ids positions = position_ids(s);
        for (std::int32_t& p : positions) p = -p;
        return rotated(doubles_of(dy), positions, 2, 4);
    }();
    for (std::int64_t i = 0; i < g.size(); ++i)
        EXPECT_NEAR(g.data()[i], back[static_cast<std::size_t>(i)] + dy.data()[i], 1e-6);
}

TEST(Rotary, PackedAndStepByStepGiveTheSameBits) {
    Rng rng(4);
    const Segments s = Segments::of_lengths({7, 130});
    const Tensor x = random_tensor({137, 24}, rng), all = rotary(x, 2, s);
    for (std::int64_t r = 0; r < 137; ++r) {
        const Tensor row =
            Tensor::of({1, 24}, x.span().subspan(static_cast<std::size_t>(r) * 24, 24));
        const Tensor one = rotary(row, 2, Segments::of_lengths({1}), {.offset = r < 7 ? r : r - 7});
        ASSERT_EQ(std::memcmp(one.data(), all.data() + r * 24, 24 * sizeof(float)), 0) << r;
    }
}

}  // namespace
}  // namespace fovea
