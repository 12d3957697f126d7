#include "fovea/ops/loss/loss.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/rows/pointwise_loss.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

using kernels::PointwiseLoss;

Tensor pointwise(const char* op, PointwiseLoss kind, const Tensor& x, const Tensor& target,
                 Reduction reduction) {
    expect_f32(op, "x", x);
    expect_f32(op, "target", target);
    expect(x.shape() == target.shape(), op, ": x is ", x.shape(), " but target is ",
           target.shape());
    const bool each = reduction == Reduction::none;
    const auto n = static_cast<double>(std::max<std::int64_t>(1, x.size()));
    const double share = reduction == Reduction::mean ? 1 / n : 1;

    Tensor y(each ? x.shape() : Shape{1});
    const double sum = kernels::pointwise_loss(kind, x.data(), target.data(),
                                               each ? y.write() : nullptr, x.size());
    if (!each) y.write()[0] = static_cast<float>(sum * share);

    return record(y, {x}, [=](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        const float factor = each ? 0 : static_cast<float>(dy.item() * share);
        kernels::pointwise_loss_backward(kind, x.data(), target.data(), factor,
                                         each ? dy.data() : nullptr, dx.view.data, x.size(),
                                         dx.add);
    });
}

}  // namespace

//   y = mean (x − t)²    dx = 2 dy (x − t) / n
Tensor mean_squared_error(const Tensor& x, const Tensor& target, Reduction reduction) {
    return pointwise("mean_squared_error", PointwiseLoss::squared, x, target, reduction);
}

//   y = mean (max(x, 0) − x t + log(1 + e^−|x|))    dx = dy (σ(x) − t) / n
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& target,
                                        Reduction reduction) {
    return pointwise("binary_cross_entropy_with_logits", PointwiseLoss::binary_cross, x, target,
                     reduction);
}

}  // namespace fovea
