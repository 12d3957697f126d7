#include "fovea/ops/rows/gather.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

TEST(GatherRows, LooksUpAndSumsGradientsOfRepeatedRows) {
    Rng rng(1);
    const Ids ids{4, 0, 4, 4, 2, 0};
    for (const std::int64_t d : {1, 3, 17, 33})
        check_op({.inputs = {random_tensor({6, d}, rng)},
                  .op = [&](const std::vector<Tensor>& x) { return gather_rows(x[0], ids); },
                  .reference =
                      [&](const std::vector<Doubles>& x) {
                          Doubles y;
                          for (const std::int32_t id : ids)
                              for (std::int64_t j = 0; j < d; ++j)
                                  y.push_back(x[0][static_cast<std::size_t>(id * d + j)]);
                          return y;
                      }});
}

TEST(GatherRows, GradientsAddToThoseAlreadyThere) {
    Rng rng(2);
    check_op({.inputs = {random_tensor({3, 5}, rng)},
              .op =
                  [](const std::vector<Tensor>& x) {
                      return gather_rows(gather_rows(x[0], {2, 1, 0, 0}), {0, 3, 3});
                  },
              .reference =
                  [](const std::vector<Doubles>& x) {
                      Doubles y;
                      for (const int id : {2, 0, 0})
                          y.insert(y.end(), x[0].begin() + id * 5, x[0].begin() + id * 5 + 5);
                      return y;
                  }});
}

TEST(GatherRows, StoredFormatsGiveTheStoredValues) {
    Rng rng(3);
    const Tensor t = random_tensor({9, 21}, rng);
    const Tensor y = gather_rows(t.to(Format::bf16), {8, 3}),
                 z = gather_rows(t.to(Format::int8), {8});
    for (std::int64_t j = 0; j < 21; ++j) {
        EXPECT_NEAR(y.at(1, j), t.at(3, j), std::fabs(t.at(3, j)) / 250);
        EXPECT_NEAR(z.at(0, j), t.at(8, j), 4.0 / 127);
    }
    EXPECT_THROW(gather_rows(t, {9}), Error);
    EXPECT_THROW(gather_rows(t, {-1}), Error);
    EXPECT_EQ(gather_rows(t, {}).rows(), 0);
}

}  // namespace
}  // namespace fovea
