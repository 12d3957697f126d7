#include "fovea/ops/rows/concat.h"

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

TEST(Concat, RowsOfOddSizes) {
    Rng rng(1);
    for (const std::int64_t d : {1, 3, 17, 33})
        check_op({.inputs = {random_tensor({3, d}, rng), random_tensor({1, d}, rng)},
                  .op =
                      [](const Inputs& x) {
                          return concat_rows({x[0], x[1], x[0]});
                      },
                  .reference =
                      [](const In& v) {
                          Doubles y = v[0];
                          y.insert(y.end(), v[1].begin(), v[1].end());
                          y.insert(y.end(), v[0].begin(), v[0].end());
                          return y;
                      }});
}

TEST(Concat, ColumnsOfOddSizes) {
    Rng rng(2);
    for (const std::int64_t d : {1, 3, 17, 33})
        check_op({.inputs = {random_tensor({5, d}, rng), random_tensor({5, 2}, rng)},
                  .op =
                      [](const Inputs& x) {
                          return concat_cols({x[0], x[1], x[0]});
                      },
                  .reference =
                      [d](const In& v) {
                          Doubles y;
                          const auto n = static_cast<std::ptrdiff_t>(d);
                          for (std::ptrdiff_t i = 0; i < 5; ++i) {
                              y.insert(y.end(), v[0].begin() + i * n, v[0].begin() + (i + 1) * n);
                              y.insert(y.end(), v[1].begin() + i * 2, v[1].begin() + (i + 1) * 2);
                              y.insert(y.end(), v[0].begin() + i * n, v[0].begin() + (i + 1) * n);
                          }
                          return y;
                      }});
}

TEST(Slice, BlocksAndTheirGradients) {
    Rng rng(3);
    check_op({.inputs = {random_tensor({6, 9}, rng)},
              .op =
                  [](const Inputs& x) {  // overlapping: their gradients add up
                      return slice_cols(slice_rows(x[0], 1, 5), 0, 4) +
                             slice_rows(slice_cols(x[0], 5, 9), 2, 6);
                  },
              .reference =
                  [](const In& v) {
                      Doubles y;
                      for (std::size_t i = 0; i < 4; ++i)
                          for (std::size_t j = 0; j < 4; ++j)
                              y.push_back(v[0][(i + 1) * 9 + j] + v[0][(i + 2) * 9 + j + 5]);
                      return y;
                  }});
    const Tensor x = random_tensor({3, 2}, rng);
    EXPECT_EQ(slice_rows(x, 1, 1).rows(), 0);
    EXPECT_EQ(concat_rows({slice_rows(x, 0, 0), x}).rows(), 3);
}

}  // namespace
}  // namespace fovea
