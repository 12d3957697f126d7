#include "fovea/ops/depthwise_conv.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/depthwise.h"
#include "fovea/kernels/rows/sum_rows.h"
#include "fovea/ops/arguments.h"

namespace fovea {

//   y[i, c] = b[c] + Σ_t w[c, t] x[i + t − h, c],  h = (k − 1) / 2, within each sequence
//   dx[i, c] = Σ_t w[c, t] dy[i − t + h, c]    dw[c, t] = Σ_i dy[i, c] x[i + t − h, c]    db = Σ dy
Tensor depthwise_conv1d(const Tensor& x, const Segments& segments, const Tensor& w,
                        const Tensor& b) {
    expect_f32("depthwise_conv1d", "x", x);
    expect_f32("depthwise_conv1d", "W", w);
    expect(x.rows() == segments.total(), "depthwise_conv1d: x is ", x.shape(),
           " but the segments have ", segments.total(), " rows");
    const Shape& s = w.shape();
    expect(s.rank() == 3 && s[0] == x.cols() && s[1] == 1 && s[2] % 2 == 1,
           "depthwise_conv1d: x is ", x.shape(), " but W is ", s, " ([d, 1, k] with an odd k)");
    expect(b.empty() || b.size() == x.cols(), "depthwise_conv1d: x is ", x.shape(), " but b is ",
           b.shape());

    Tensor y(x.shape());
    kernels::depthwise(
        x, segments.offsets(),
        {.w = ConstView(w.data(), s[0], s[2]), .bias = b.empty() ? nullptr : b.data()}, y.view(),
        false);

    return record(y, {x, w, b}, [x, w, b, segments](const Tensor& dy, Gradients& d) {
        const std::int64_t k = w.shape()[2];
        if (d.wants(x)) {
            const Into dx = d.into(x);
            kernels::depthwise(
                dy, segments.offsets(),
                {.w = ConstView(w.data(), x.cols(), k), .order = kernels::TapOrder::backward},
                dx.view, dx.add);
        }
        if (d.wants(w)) {
            const Into dw = d.into(w);
            kernels::depthwise_weights(x, dy, segments.offsets(), {dw.view.data, x.cols(), k},
                                       dw.add);
        }
        if (!b.empty() && d.wants(b)) {
            const Into db = d.into(b);
            kernels::sum_rows(dy, db.view, db.add);
        }
    });
}

}  // namespace fovea
