#include "fovea/ops/arithmetic.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

template <class F>
Doubles zip(const Doubles& a, const Doubles& b, F f) {
    Doubles y(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) y[i] = f(a[i], b[i]);
    return y;
}

TEST(Arithmetic, ElementwiseOpsOfOddSizes) {
    Rng rng(1);
    for (const std::int64_t d : {1, 3, 17, 33}) {
        SCOPED_TRACE(d);
        const Inputs two{random_tensor({3, d}, rng), random_tensor({3, d}, rng)};
        check_op({.inputs = two,
                  .op = [](const Inputs& x) { return x[0] + x[1]; },
                  .reference = [](const In& x) { return zip(x[0], x[1], std::plus<>()); }});
        check_op({.inputs = two,
                  .op = [](const Inputs& x) { return x[0] - x[1]; },
                  .reference = [](const In& x) { return zip(x[0], x[1], std::minus<>()); }});
        check_op({.inputs = two,
                  .op = [](const Inputs& x) { return mul(x[0], x[1]); },
                  .reference = [](const In& x) { return zip(x[0], x[1], std::multiplies<>()); }});
        check_op({.inputs = {two[0]},
                  .op = [](const Inputs& x) { return 2.5f * x[0] + x[0] * -0.5f; },
                  .reference =
                      [](const In& x) {
                          return zip(x[0], x[0], [](double a, double) { return 2 * a; });
                      }});
    }
}

TEST(Arithmetic, OneRowIsAddedToAll) {
    Rng rng(2);
    for (const std::int64_t n : {1, 3, 300}) {
        check_op({.inputs = {random_tensor({n, 33}, rng), random_tensor({33}, rng)},
                  .op = [](const Inputs& x) { return x[0] + x[1]; },
                  .reference =
                      [](const In& x) {
                          Doubles y = x[0];
                          for (std::size_t i = 0; i < y.size(); ++i) y[i] += x[1][i % 33];
                          return y;
                      },
                  .max_checked = 60});
    }
}

TEST(Arithmetic, TheSameTensorTwice) {
    Rng rng(3);
    check_op({.inputs = {random_tensor({5, 7}, rng)},
              .op = [](const Inputs& x) { return mul(x[0], x[0]) - x[0]; },
              .reference =
                  [](const In& x) {
                      return zip(x[0], x[0], [](double a, double b) { return a * b - a; });
                  }});
}

TEST(Arithmetic, RowsAreAlone) {
    Rng rng(4);
    const Tensor row = random_tensor({65}, rng);
    check_rows_alone(random_tensor({5, 65}, rng),
                     [&](const Tensor& x) { return mul(3.0f * x + row, x); });
}

}  // namespace
}  // namespace fovea
