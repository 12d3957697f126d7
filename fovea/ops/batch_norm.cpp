#include "fovea/ops/batch_norm.h"

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/rows/batch_norm.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

void expect_columns(const Tensor& x, const char* name, const Tensor& t) {
    expect_f32("batch_norm", name, t);
    expect(t.size() == x.cols(), "batch_norm: x is ", x.shape(), " but ", name, " is ", t.shape());
}

void expect_arguments(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                      const BatchNormState& state) {
    expect_f32("batch_norm", "x", x);
    expect_columns(x, "gamma", gamma);
    expect_columns(x, "beta", beta);
    expect_columns(x, "the running mean", state.mean);
    expect_columns(x, "the running variance", state.variance);
}

// 1 / √(variance + eps), [d].
Tensor inverse_root(const Tensor& variance, float eps) {
    Tensor y({variance.size()});
    for (std::int64_t j = 0; j < y.size(); ++j)
        y.write()[j] = 1.0f / std::sqrt(variance.data()[j] + eps);
    return y;
}

Tensor product(const Tensor& a, const Tensor& b) {
    Tensor y({a.size()});
    kernels::multiply(a.data(), b.data(), y.write(), y.size());
    return y;
}

// What both forms share. `fixed`: the statistics do not depend on x.
Tensor normalised(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean,
                  const Tensor& inverse, bool fixed) {
    const Tensor factor = product(gamma, inverse);
    Tensor y(x.shape());
    kernels::scale_columns(x, mean.data(), factor.data(), beta.data(), y.view());

    return record(y, {x, gamma, beta}, [=](const Tensor& dy, Gradients& d) {
        Tensor sum({x.cols()}), dot({x.cols()});
        Tensor partial({kernels::column_partial_size(x.rows(), x.cols())});
        kernels::column_gradients(dy, x, mean.data(), sum.write(), dot.write(), partial.write());
        if (d.wants(beta)) {
            const Into db = d.into(beta);
            kernels::scale(sum.data(), 1.0f, db.view.data, sum.size(), db.add);
        }
        if (d.wants(gamma)) {
            const Into dg = d.into(gamma);
            kernels::multiply(dot.data(), inverse.data(), dg.view.data, dot.size(), dg.add);
        }
        if (!d.wants(x)) return;
        const float share = fixed ? 0.0f : 1.0f / static_cast<float>(x.rows());
        Tensor b = product(dot, product(inverse, inverse));
        kernels::scale(b.data(), share, b.write(), b.size());
        kernels::scale(sum.data(), share, sum.write(), sum.size());
        const Into dx = d.into(x);
        kernels::centred_gradient(dy, x, mean.data(), factor.data(), sum.data(), b.data(), dx.view,
                                  dx.add);
    });
}

// (1 − m) old + m · scale · fresh
Tensor moved(const Tensor& old, const Tensor& fresh, float m, float scale) {
    Tensor y({old.size()});
    kernels::scale(old.data(), 1 - m, y.write(), y.size());
    kernels::scale(fresh.data(), m * scale, y.write(), y.size(), true);
    return y;
}

}  // namespace

//   x̂ = (x − mean) / √(var + eps)    y = x̂ ∘ gamma + beta       statistics over the n rows
//   dgamma = Σₙ dy ∘ x̂    dbeta = Σₙ dy
//   dx = gamma / √(var + eps) ∘ (dy − dbeta / n − x̂ ∘ dgamma / n)
BatchNormResult batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const BatchNormState& state, const BatchNormOptions& options) {
    if (!current_tape()) return {batch_norm_fixed(x, gamma, beta, state, options.eps), state};
    expect_arguments(x, gamma, beta, state);
    expect(x.rows() > 1, "batch_norm: x is ", x.shape(),
           " but statistics need two rows or more while a tape is alive");

    Tensor mean({x.cols()}), variance({x.cols()});
    Tensor partial({kernels::column_partial_size(x.rows(), x.cols())});
    kernels::column_statistics(x, mean.write(), variance.write(), partial.write());
    const auto n = static_cast<float>(x.rows());
    const BatchNormState next{
        .mean = moved(state.mean, mean, options.momentum, 1),
        .variance = moved(state.variance, variance, options.momentum, n / (n - 1))};
    return {normalised(x, gamma, beta, mean, inverse_root(variance, options.eps), false), next};
}

//   y = (x − mean) / √(var + eps) ∘ gamma + beta    dx = dy ∘ gamma / √(var + eps)
Tensor batch_norm_fixed(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                        const BatchNormState& state, float eps) {
    expect_arguments(x, gamma, beta, state);
    return normalised(x, gamma, beta, state.mean, inverse_root(state.variance, eps), true);
}

}  // namespace fovea
