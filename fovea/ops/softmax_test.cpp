#include "fovea/ops/softmax.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

// Rows of c values: f(x, log Σ eˣ) for every value.
template <class F>
Doubles rows(const Doubles& x, std::size_t c, F f) {
    Doubles y;
    for (std::size_t r = 0; r < x.size(); r += c) {
        double m = -1e300, sum = 0;
        for (std::size_t j = 0; j < c; ++j) m = std::max(m, x[r + j]);
        for (std::size_t j = 0; j < c; ++j) sum += std::exp(x[r + j] - m);
        for (std::size_t j = 0; j < c; ++j) y.push_back(f(x[r + j], m + std::log(sum)));
    }
    return y;
}

TEST(Softmax, OddSizes) {
    Rng rng(1);
    for (const std::int64_t c : {1, 3, 17, 33, 100}) {
        SCOPED_TRACE(c);
        const auto n = static_cast<std::size_t>(c);
        const Inputs x{random_tensor({5, c}, rng, 3)};
        check_op({.inputs = x,
                  .op = [](const Inputs& in) { return softmax(in[0]); },
                  .reference =
                      [&](const In& v) {
                          return rows(v[0], n, [](double a, double l) { return std::exp(a - l); });
                      }});
        check_op({.inputs = x,
                  .op = [](const Inputs& in) { return log_softmax(in[0]); },
                  .reference =
                      [&](const In& v) {
                          return rows(v[0], n, [](double a, double l) { return a - l; });
                      }});
        check_op({.inputs = x,
                  .op = [](const Inputs& in) { return log_sum_exp(in[0]); },
                  .reference =
                      [&](const In& v) {
                          const Doubles all = rows(v[0], n, [](double, double l) { return l; });
                          Doubles y;
                          for (std::size_t i = 0; i < all.size(); i += n) y.push_back(all[i]);
                          return y;
                      }});
    }
}

TEST(Softmax, AShiftChangesNothingAndExtremesAreFinite) {
    at_every_level([] {
        const Tensor a = softmax(Tensor::of({1, 3}, {0, 1, 2}));
        EXPECT_TRUE(same_bits(a, softmax(Tensor::of({1, 3}, {4096, 4097, 4098}))));
        const Tensor b = softmax(Tensor::of({1, 3}, {3e38f, -3e38f, 3e38f}));
        EXPECT_EQ(b.values(), (std::vector<float>{0.5f, 0, 0.5f}));
        const float inf = std::numeric_limits<float>::infinity();
        EXPECT_EQ(softmax(Tensor::of({1, 3}, {-inf, 5, -inf})).values(),
                  (std::vector<float>{0, 1, 0}));
        EXPECT_NEAR(log_sum_exp(Tensor::of({1, 2}, {1e4f, 1e4f})).item(), 1e4 + std::log(2.0),
                    1e-2);
    });
}

TEST(Softmax, RowsAreAlone) {
    Rng rng(2);
    check_rows_alone(random_tensor({7, 45}, rng), [](const Tensor& x) { return softmax(x); });
    check_rows_alone(random_tensor({7, 45}, rng), [](const Tensor& x) { return log_softmax(x); });
}

}  // namespace
}  // namespace fovea
