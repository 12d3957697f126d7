#include "fovea/ops/loss/loss.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

TEST(Loss, SquaredAndBinaryInEveryReduction) {
    Rng rng(1);
    for (const std::int64_t n : {1, 3, 17, 33, 5000})
        for (const Reduction r : {Reduction::mean, Reduction::sum, Reduction::none}) {
            SCOPED_TRACE(n);
            const Tensor x = random_tensor({n}, rng, 2);
            Tensor t({n});
            for (std::int64_t i = 0; i < n; ++i) t.write()[i] = static_cast<float>(rng.uniform());
            const auto reduced = [&](const Doubles& v, auto f) {
                Doubles each;
                double sum = 0;
                for (std::size_t i = 0; i < v.size(); ++i) {
                    each.push_back(f(v[i], static_cast<double>(t.data()[i])));
                    sum += each.back();
                }
                if (r == Reduction::none) return each;
                return Doubles{r == Reduction::sum ? sum : sum / static_cast<double>(n)};
            };
            check_op({.inputs = {x},
                      .op = [&](const Inputs& in) { return mean_squared_error(in[0], t, r); },
                      .reference =
                          [&](const In& v) {
                              return reduced(v[0],
                                             [](double a, double b) { return (a - b) * (a - b); });
                          },
                      .max_checked = 50});
            check_op({.inputs = {x},
                      .op =
                          [&](const Inputs& in) {
                              return binary_cross_entropy_with_logits(in[0], t, r);
                          },
                      .reference =
                          [&](const In& v) {
                              return reduced(v[0], [](double a, double b) {
                                  return -b * std::log(1 / (1 + std::exp(-a))) -
                                         (1 - b) * std::log(1 / (1 + std::exp(a)));
                              });
                          },
                      .max_checked = 50});
        }
}

TEST(Loss, WeightsOfBinaryCrossEntropy) {
    Rng rng(2);
    const Tensor x = random_tensor({7, 5}, rng, 2), w = random_tensor({7, 5}, rng, 1);
    Tensor t({7, 5});
    for (std::int64_t i = 0; i < t.size(); ++i) t.write()[i] = static_cast<float>(i % 3 == 0);
    check_op({.inputs = {x},
              .op = [&](const Inputs& in) { return weighted_binary_cross_entropy(in[0], t, w); },
              .reference =
                  [&](const In& v) {
                      double sum = 0;
                      for (std::int64_t i = 0; i < t.size(); ++i) {
                          const double a = v[0][static_cast<std::size_t>(i)];
                          sum += static_cast<double>(w.data()[i]) *
                                 std::log(1 + std::exp(t.data()[i] > 0 ? -a : a));
                      }
                      return Doubles{sum / static_cast<double>(t.size())};
                  }});
}

TEST(Loss, ExtremesAreFiniteAndSmallLossesKeepTheirDigits) {
    const Tensor x = Tensor::of({4}, {3e38f, -3e38f, 15, -15});
    const Tensor t = Tensor::of({4}, {1, 0, 1, 0});
    at_every_level([&] {
        const Tensor y = binary_cross_entropy_with_logits(x, t, Reduction::none);
        EXPECT_EQ(y.data()[0], 0);
        EXPECT_EQ(y.data()[1], 0);
        EXPECT_NEAR(y.data()[2] / std::log1p(std::exp(-15.0)), 1, 1e-5);
        EXPECT_NEAR(y.data()[3] / std::log1p(std::exp(-15.0)), 1, 1e-5);
    });
}

}  // namespace
}  // namespace fovea
