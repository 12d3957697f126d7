#include "fovea/ops/batch_norm.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

Doubles naive(const In& v, std::size_t d, const Doubles* fixed_mean, const Doubles* fixed_var) {
    const std::size_t n = v[0].size() / d;
    Doubles y(v[0].size());
    for (std::size_t j = 0; j < d; ++j) {
        double mean = 0, var = 0;
        for (std::size_t i = 0; i < n; ++i) mean += v[0][i * d + j] / static_cast<double>(n);
        for (std::size_t i = 0; i < n; ++i)
            var += std::pow(v[0][i * d + j] - mean, 2) / static_cast<double>(n);
        if (fixed_mean) mean = (*fixed_mean)[j], var = (*fixed_var)[j];
        for (std::size_t i = 0; i < n; ++i)
            y[i * d + j] = (v[0][i * d + j] - mean) / std::sqrt(var + 1e-5) * v[1][j] + v[2][j];
    }
    return y;
}

TEST(BatchNorm, TrainingAndFixed) {
    Rng rng(1);
    for (const std::int64_t d : {1, 3, 17, 33})
        for (const std::int64_t n : {5, 17, 130}) {
            SCOPED_TRACE(text_of(n, " x ", d));
            const Inputs in{random_tensor({n, d}, rng, 2), random_tensor({d}, rng),
                            random_tensor({d}, rng)};
            Tensor variance = random_tensor({d}, rng);
            for (std::int64_t j = 0; j < d; ++j)
                variance.write()[j] = std::fabs(variance.data()[j]) + 0.1f;
            const BatchNormState state{random_tensor({d}, rng), variance};
            const auto columns = static_cast<std::size_t>(d);
            const Doubles m = doubles_of(state.mean), s = doubles_of(state.variance);
            check_op({.inputs = in,
                      .op = [&](const Inputs& x) { return batch_norm(x[0], x[1], x[2], state).y; },
                      .reference = [&](const In& v) { return naive(v, columns, nullptr, nullptr); },
                      .max_checked = 40});
            check_op(
                {.inputs = in,
                 .op = [&](const Inputs& x) { return batch_norm_fixed(x[0], x[1], x[2], state); },
                 .reference = [&](const In& v) { return naive(v, columns, &m, &s); },
                 .max_checked = 40});
        }
}

TEST(BatchNorm, RunningAveragesMoveUnderATapeAlone) {
    const Tensor x = Tensor::of({3, 1}, {1, 2, 6}), one = Tensor::full({1}, 1),
                 zero = Tensor::zeros({1});
    const BatchNormState start{zero, one};
    {
        Tape tape;
        const BatchNormState next = batch_norm(x, one, zero, start, {.momentum = 0.5f}).state;
        EXPECT_FLOAT_EQ(next.mean.item(), 1.5f);
        EXPECT_FLOAT_EQ(next.variance.item(), 0.5f + 0.5f * 7);  // 14 / (3 − 1)
        EXPECT_THROW(batch_norm(Tensor::of({1, 1}, {1}), one, zero, start), Error);
    }
    const BatchNormResult r = batch_norm(x, one, zero, start);
    EXPECT_EQ(r.state.mean.id(), zero.id());
    EXPECT_NEAR(r.y.data()[2], 6, 1e-4);
}

}  // namespace
}  // namespace fovea
