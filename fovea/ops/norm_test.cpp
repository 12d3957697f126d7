#include "fovea/ops/norm.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

Doubles naive_layer_norm(const In& v, std::size_t d, double eps) {
    Doubles y(v[0].size());
    for (std::size_t r = 0; r < y.size(); r += d) {
        double mean = 0, var = 0;
        for (std::size_t j = 0; j < d; ++j) mean += v[0][r + j] / static_cast<double>(d);
        for (std::size_t j = 0; j < d; ++j)
            var += (v[0][r + j] - mean) * (v[0][r + j] - mean) / static_cast<double>(d);
        for (std::size_t j = 0; j < d; ++j)
            y[r + j] = (v[0][r + j] - mean) / std::sqrt(var + eps) * v[1][j] +
                       (v.size() > 2 ? v[2][j] : 0);
    }
    return y;
}

TEST(LayerNorm, OddSizes) {
    Rng rng(1);
    for (const std::int64_t d : {1, 3, 17, 33, 100})
        for (const std::int64_t n : {1, 5, 130}) {
            SCOPED_TRACE(text_of(n, " x ", d));
            check_op({.inputs = {random_tensor({n, d}, rng), random_tensor({d}, rng),
                                 random_tensor({d}, rng)},
                      .op = [](const Inputs& x) { return layer_norm(x[0], x[1], x[2], 1e-5f); },
                      .reference =
                          [&](const In& v) {
                              return naive_layer_norm(v, static_cast<std::size_t>(d), 1e-5);
                          },
                      .max_checked = 50});
        }
}

TEST(LayerNorm, WithoutBeta) {
    Rng rng(2);
    check_op({.inputs = {random_tensor({3, 9}, rng), random_tensor({9}, rng)},
              .op = [](const Inputs& x) { return layer_norm(x[0], x[1], {}, 1e-12f); },
              .reference = [&](const In& v) { return naive_layer_norm(v, 9, 1e-12); }});
}

TEST(LayerNorm, AMeanOfAThousandKeepsFiveDigits) {
    Rng rng(3);
    const std::int64_t d = 768;
    Tensor x = random_tensor({4, d}, rng);
    for (std::int64_t i = 0; i < x.size(); ++i) x.write()[i] += 1000.0f;
    x.write()[0] = 0;  // an outlier in front
    const Tensor one = Tensor::full({d}, 1), zero = Tensor::zeros({d});
    const Doubles y = naive_layer_norm({doubles_of(x), doubles_of(one), doubles_of(zero)},
                                       static_cast<std::size_t>(d), 1e-5);
    at_every_level([&] {
        const Tensor got = layer_norm(x, one, zero);
        for (std::int64_t i = 0; i < x.size(); ++i)
            EXPECT_NEAR(got.data()[i], y[static_cast<std::size_t>(i)],
                        1e-5 * std::max(1.0, std::fabs(y[static_cast<std::size_t>(i)])));
    });
}

TEST(LayerNorm, RowsAreAlone) {
    Rng rng(4);
    const Tensor g = random_tensor({77}, rng), b = random_tensor({77}, rng);
    check_rows_alone(random_tensor({9, 77}, rng),
                     [&](const Tensor& x) { return layer_norm(x, g, b); });
}

}  // namespace
}  // namespace fovea
