#include "fovea/ops/activation.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/activation.h"
#include "fovea/ops/arguments.h"

namespace fovea {

//   y = act(x)    dx = dy ∘ act'(x)       any shape; act' from y where that is enough (see Act)
Tensor activate(const Tensor& x, Act act) {
    expect_f32(name_of(act), "x", x);
    if (act == Act::none) return x;
    Tensor y(x.shape());
    kernels::activate(act, x.data(), y.write(), y.size());
    const Tensor saved = kernels::needs_input(act) ? x : y;
    return record(y, {x}, [x = GradTarget(x), saved, act](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::activate_backward(act, dy.data(), saved.data(), dx.view.data, dy.size(), dx.add);
    });
}

//   y = 1 / (1 + e⁻ˣ)    dx = dy ∘ y ∘ (1 − y)
Tensor sigmoid(const Tensor& x) {
    expect_f32("sigmoid", "x", x);
    Tensor y(x.shape());
    kernels::sigmoid(x.data(), y.write(), y.size());
    return record(y, {x}, [x = GradTarget(x), y](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::sigmoid_backward(dy.data(), y.data(), dx.view.data, dy.size(), dx.add);
    });
}

}  // namespace fovea
