#include "fovea/ops/norm.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/norm.h"
#include "fovea/ops/arguments.h"

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

}  // namespace

//   x̂ = (x − mean) / √(var + eps)    y = x̂ ∘ gamma + beta      x, y [n, d]   gamma, beta [d]
//   dx = (g − mean(g) − x̂ mean(g ∘ x̂)) / √(var + eps),  g = dy ∘ gamma
//   dgamma = Σₙ dy ∘ x̂    dbeta = Σₙ dy
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float eps) {
    expect_f32("layer_norm", "x", x);
    expect(x.cols() > 0, "layer_norm: x is ", x.shape(), ", which has no columns");
    expect_scale("layer_norm", "gamma", x, gamma);
    if (!beta.empty()) expect_scale("layer_norm", "beta", x, beta);

    Tensor y(x.shape()), stats({x.rows(), 3});
    kernels::layer_norm(x, gamma.data(), beta.data(), eps, y.view(), stats_of(stats));

    return record(y, {x, gamma, beta}, [x, gamma, beta, stats](const Tensor& dy, Gradients& d) {
        kernels::NormGradients out;
        if (d.wants(x)) {
            const Into dx = d.into(x);
            out.dx = dx.view, out.add_dx = dx.add;
        }
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
        kernels::layer_norm_backward(dy, x, gamma.data(), stats_of(stats), out);
    });
}

}  // namespace fovea
