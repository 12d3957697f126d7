#include "fovea/ops/norm.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/rows/norm.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/dropout_plan.h"

namespace fovea {
namespace {

static_assert(sizeof(kernels::NormStats) == 3 * sizeof(float));

kernels::NormStats* stats_of(Tensor& t) { return reinterpret_cast<kernels::NormStats*>(t.write()); }
const kernels::NormStats* stats_of(const Tensor& t) {
    return reinterpret_cast<const kernels::NormStats*>(t.data());
}

void expect_scale(const char* op, const char* name, const Tensor& x, const Tensor& scale) {
    expect_f32(op, name, scale);
    expect(scale.size() == x.cols(), op, ": x is ", x.shape(), " but ", name, " is ",
           scale.shape());
}

using BackwardKernel = void (*)(ConstView dy, ConstView x, const float* gamma,
                                const kernels::NormStats* stats, const kernels::NormGradients& out);

// What a norm's forward leaves to its backward.
struct NormCall {
    BackwardKernel kernel;
    Tensor x, gamma, beta, stats;  // beta may be empty
};

// dgamma, dbeta (empty: not wanted) and dx, where `dx` says so.
void norm_backward(const NormCall& call, const Tensor& dy, Into dx, Gradients& d) {
    const auto& [kernel, x, gamma, beta, stats] = call;
    kernels::NormGradients out{.dx = dx.view, .add_dx = dx.add};
    if (d.wants(gamma)) {
        const Into dg = d.into(gamma);
        out.dgamma = dg.view.data, out.add_dgamma = dg.add;
    }
    if (d.wants(beta)) {
        const Into db = d.into(beta);
        out.dbeta = db.view.data, out.add_dbeta = db.add;
    }
    Tensor partial({kernels::norm_partial_size(x.rows(), x.cols())});
    out.partial = partial.write();
    kernel(dy, x, gamma.data(), stats_of(stats), out);
}

void expect_norm(const char* op, const Tensor& x, const Tensor& gamma, const Tensor& beta) {
    expect_f32(op, "x", x);
    expect(x.cols() > 0, op, ": x is ", x.shape(), ", which has no columns");
    expect_scale(op, "gamma", x, gamma);
    if (!beta.empty()) expect_scale(op, "beta", x, beta);
}

}  // namespace

//   x̂ = (x − mean) / √(var + eps)    y = x̂ ∘ gamma + beta      x, y [n, d]   gamma, beta [d]
//   dx = (g − mean(g) − x̂ mean(g ∘ x̂)) / √(var + eps),  g = dy ∘ gamma
//   dgamma = Σₙ dy ∘ x̂    dbeta = Σₙ dy
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps) {
    expect_norm("layer_norm", x, gamma, beta);

    Tensor y(x.shape()), stats({x.rows(), 3});
    kernels::layer_norm(x, gamma.data(), beta.data(), eps, y.view(), stats_of(stats));

    return record(y, {x, gamma, beta}, [x, gamma, beta, stats](const Tensor& dy, Gradients& d) {
        norm_backward({kernels::layer_norm_backward, x, gamma, beta, stats}, dy,
                      d.wants(x) ? d.into(x) : Into{}, d);
    });
}

//   s = x + m ∘ branch / (1 − p)    y = LN(s)                 x, branch, y [n, d]
//   ds as layer_norm's dx    dx = ds    dbranch = m ∘ ds / (1 − p)
Tensor residual_layer_norm(const Tensor& x, const Tensor& branch, const Tensor& gamma,
                           const Tensor& beta, const ResidualNormOptions& options) {
    expect_norm("residual_layer_norm", x, gamma, beta);
    expect_f32("residual_layer_norm", "branch", branch);
    expect(x.shape() == branch.shape(), "residual_layer_norm: x is ", x.shape(), " but branch is ",
           branch.shape());
    const std::optional<DropoutPlan> plan =
        plan_dropout("residual_layer_norm", branch, options.dropout, &x);
    if (plan && plan->rows != x.rows())  // names of another shape: rows are not rows
        return layer_norm(x + dropout(branch, options.dropout), gamma, beta, options.eps);

    const bool tracked = current_tape() != nullptr;
    Tensor y(x.shape()), stats({x.rows(), 3}), sum = tracked ? Tensor(x.shape()) : Tensor();
    const kernels::DropoutMask mask = plan ? plan->mask() : kernels::DropoutMask();
    kernels::residual_layer_norm({.x = x,
                                  .branch = branch,
                                  .mask = plan ? &mask : nullptr,
                                  .gamma = gamma.data(),
                                  .beta = beta.data(),
                                  .eps = options.eps},
                                 tracked ? sum.view() : View(), y.view(), stats_of(stats));

    return record(y, {x, branch, gamma, beta},
                  [x = GradTarget(x), branch = GradTarget(branch), gamma, beta, sum, stats, plan](
                      const Tensor& dy, Gradients& d) {
                      Tensor ds(sum.shape());
                      norm_backward({kernels::layer_norm_backward, sum, gamma, beta, stats}, dy,
                                    {ds.view(), false}, d);
                      if (d.wants(x)) d.add(x, ds);
                      if (!d.wants(branch)) return;
                      if (!plan) return d.add(branch, ds);
                      const Into db = d.into(branch);
                      kernels::dropout(ds, plan->mask(), db.view, db.add ? db.view.data : nullptr);
                  });
}

//   x̂ = x / √(mean(x²) + eps)    y = x̂ ∘ gamma             x, y [n, d]   gamma [d]
//   dx = (g − x̂ mean(g ∘ x̂)) / √(mean(x²) + eps),  g = dy ∘ gamma     dgamma = Σₙ dy ∘ x̂
Tensor rms_norm(const Tensor& x, const Tensor& gamma, float eps) {
    expect_norm("rms_norm", x, gamma, {});

    Tensor y(x.shape()), stats({x.rows(), 3});
    kernels::rms_norm(x, gamma.data(), eps, y.view(), stats_of(stats));

    return record(y, {x, gamma}, [x, gamma, stats](const Tensor& dy, Gradients& d) {
        norm_backward({kernels::rms_norm_backward, x, gamma, {}, stats}, dy,
                      d.wants(x) ? d.into(x) : Into{}, d);
    });
}

}  // namespace fovea
