#include "fovea/ops/drop_path.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/dropout_plan.h"

namespace fovea {
namespace {

// y[rows of sample s] = x · f(s), f = 0 or 1 / (1 − p)
void scale_samples(const float* x, const DropoutPlan& plan, float* y, bool add) {
    const kernels::DropoutMask mask = plan.mask();
    for (std::int64_t s = 0; s < plan.names.count(); ++s) {
        const std::int64_t at = plan.names.begin(s) * plan.cols;
        const bool kept = kernels::keeps(mask, plan.names.sample(s), 0, 0);
        kernels::scale(x + at, kept ? mask.scale : 0.0f, y + at, plan.names.length(s) * plan.cols,
                       add);
    }
}

}  // namespace

//   y = f(sample) x    dx = f(sample) dy      f drawn again in backward, never stored
Tensor drop_path(const Tensor& x, float p) {
    expect_f32("drop_path", "x", x);
    const std::optional<DropoutPlan> plan = plan_dropout("drop_path", x, p);
    if (!plan) return x;

    Tensor y(x.shape());
    scale_samples(x.data(), *plan, y.write(), false);

    return record(y, {x}, [x = GradTarget(x), plan = *plan](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        scale_samples(dy.data(), plan, dx.view.data, dx.add);
    });
}

}  // namespace fovea
