#include "fovea/ops/loss/loss.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/rows/pointwise_loss.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/arithmetic.h"

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

//   y = mean w (max(x, 0) − x t + log(1 + e^−|x|))    dx = dy w (σ(x) − t) / n
Tensor weighted_binary_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weights) {
    const char* op = "weighted_binary_cross_entropy";
    expect_f32(op, "x", x);
    expect_f32(op, "target", target);
    expect_f32(op, "weights", weights);
    expect(x.shape() == target.shape() && x.shape() == weights.shape(), op, ": x is ", x.shape(),
           ", target ", target.shape(), " and weights ", weights.shape());
    const auto n = static_cast<float>(std::max<std::int64_t>(1, x.size()));
    Tensor each(x.shape());
    kernels::pointwise_loss(PointwiseLoss::binary_cross, x.data(), target.data(), each.write(),
                            x.size());
    double sum = 0;
    for (std::int64_t i = 0; i < x.size(); ++i)
        sum += static_cast<double>(weights.data()[i]) * each.data()[i];
    Tensor y(Shape{1});
    y.write()[0] = static_cast<float>(sum / n);

    return record(y, {x}, [=](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        const Tensor shares = (dy.item() / n) * weights;
        kernels::pointwise_loss_backward(PointwiseLoss::binary_cross, x.data(), target.data(), 0,
                                         shares.data(), dx.view.data, x.size(), dx.add);
    });
}

}  // namespace fovea
