#include "fovea/ops/softmax.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/rows/softmax.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

void expect_columns(const char* op, const Tensor& x) {
    expect_f32(op, "x", x);
    expect(x.cols() > 0, op, ": x is ", x.shape(), ", which has no columns");
}

}  // namespace

//   y = eˣ / Σ eˣ    dx = y ∘ (dy − Σ dy ∘ y)        x, y [n, c]
Tensor softmax(const Tensor& x) {
    expect_columns("softmax", x);
    Tensor y(x.shape());
    kernels::softmax(x, y.view());
    return record(y, {x}, [x = GradTarget(x), y](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::softmax_backward(dy, y, dx.view, dx.add);
    });
}

//   y = x − log Σ eˣ    dx = dy − eʸ Σ dy            x, y [n, c]
Tensor log_softmax(const Tensor& x) {
    expect_columns("log_softmax", x);
    Tensor y(x.shape());
    kernels::log_softmax(x, y.view());
    return record(y, {x}, [x = GradTarget(x), y](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::log_softmax_backward(dy, y, dx.view, dx.add);
    });
}

//   y = log Σ eˣ    dx = dy e^(x − y)                x [n, c]   y [n]
Tensor log_sum_exp(const Tensor& x) {
    expect_columns("log_sum_exp", x);
    Tensor y({x.rows()});
    kernels::log_sum_exp(x, y.write());
    return record(y, {x}, [x, y](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::log_sum_exp_backward(dy.data(), x, y.data(), dx.view, dx.add);
    });
}

}  // namespace fovea
