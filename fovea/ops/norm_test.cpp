#include "fovea/ops/norm.h"

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
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

TEST(RmsNorm, OddSizes) {
    Rng rng(5);
    for (const std::int64_t d : {1, 3, 17, 33, 100})
        check_op({.inputs = {random_tensor({5, d}, rng), random_tensor({d}, rng)},
                  .op = [](const Inputs& x) { return rms_norm(x[0], x[1], 1e-6f); },
                  .reference =
                      [&](const In& v) {
                          Doubles y(v[0].size());
                          const auto n = static_cast<std::size_t>(d);
                          for (std::size_t r = 0; r < y.size(); r += n) {
                              double square = 0;
                              for (std::size_t j = 0; j < n; ++j)
                                  square += v[0][r + j] * v[0][r + j];
                              for (std::size_t j = 0; j < n; ++j)
                                  y[r + j] = v[0][r + j] * v[1][j] /
                                             std::sqrt(square / static_cast<double>(n) + 1e-6);
                          }
                          return y;
                      }});
    const Tensor g = random_tensor({77}, rng);
    check_rows_alone(random_tensor({9, 77}, rng), [&](const Tensor& x) { return rms_norm(x, g); });
}

TEST(ResidualLayerNorm, OddSizesAndTheSameTensorTwice) {
    Rng rng(6);
    for (const std::int64_t d : {1, 3, 17, 33})
        check_op({.inputs = {random_tensor({5, d}, rng), random_tensor({5, d}, rng),
                             random_tensor({d}, rng), random_tensor({d}, rng)},
                  .op =
                      [](const Inputs& x) {
                          return residual_layer_norm(x[0], x[1], x[2], x[3]) +
                                 residual_layer_norm(x[0], x[0], x[2], x[3]);
                      },
                  .reference =
                      [&](const In& v) {
                          const auto n = static_cast<std::size_t>(d);
                          Doubles sum = v[0], twice = v[0];
                          for (std::size_t i = 0; i < sum.size(); ++i) {
                              sum[i] += v[1][i];
                              twice[i] *= 2;
                          }
                          Doubles y = naive_layer_norm({sum, v[2], v[3]}, n, 1e-5);
                          const Doubles z = naive_layer_norm({twice, v[2], v[3]}, n, 1e-5);
                          for (std::size_t i = 0; i < y.size(); ++i) y[i] += z[i];
                          return y;
                      }});
}

TEST(ResidualLayerNorm, HasTheBitsOfTheThreeOps) {
    Rng rng(7);
    const Tensor g = random_tensor({200}, rng), b = random_tensor({200}, rng);
    Tensor x = random_tensor({9, 200}, rng), branch = random_tensor({9, 200}, rng);
    x.set_row_names(Segments::of_lengths({4, 0, 5}));  // the branch finds its names here
    const auto run = [&](bool fused) {
        Rng drop(3);
        Tape tape(drop);
        const Tensor wx = tape.watch(x), wb = tape.watch(branch);
        Tensor named = 1.0f * wb;
        named.set_row_names(*x.row_names());
        const Tensor y = fused ? residual_layer_norm(wx, wb, g, b, {.dropout = 0.3f})
                               : layer_norm(wx + dropout(named, 0.3f), g, b);
        detail::Run r{y, {}};
        const Gradients d = tape.gradients(y, Tensor::of(y.shape(), y.span()));
        r.gradients = {d[x], d[branch]};
        return r;
    };
    at_every_level([&] {
        const detail::Run one = run(true), three = run(false);
        EXPECT_TRUE(same_bits(one.y, three.y));
        EXPECT_TRUE(same_bits(one.gradients[0], three.gradients[0]));
        EXPECT_TRUE(same_bits(one.gradients[1], three.gradients[1]));
        EXPECT_TRUE(same_bits(residual_layer_norm(x, branch, g, b), layer_norm(x + branch, g, b)));
    });
}

}  // namespace
}  // namespace fovea
