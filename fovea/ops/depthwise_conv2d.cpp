#include "fovea/autograd/tape.h"
#include "fovea/kernels/depthwise2d.h"
#include "fovea/kernels/rows/sum_rows.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/conv2d.h"

namespace fovea {

//   y[i, j, c] = b[c] + Σ_rs w[c, r, s] x[i + r − h, j + s − h, c],  h = (k − 1) / 2
//   dx = the same with the weights turned half round    dw[c, r, s] = Σ_ij dy x    db = Σ dy
Tensor depthwise_conv2d(const Tensor& x, const Grid& grid, const Tensor& w, const Tensor& b) {
    expect_f32("depthwise_conv2d", "x", x);
    expect_f32("depthwise_conv2d", "W", w);
    expect(x.rows() == grid.rows(), "depthwise_conv2d: x is ", x.shape(), " but the grid is ",
           grid.images, " x ", grid.height, " x ", grid.width);
    const Shape& s = w.shape();
    expect(s.rank() == 4 && s[0] == x.cols() && s[1] == 1 && s[2] == s[3] && s[2] % 2 == 1,
           "depthwise_conv2d: x is ", x.shape(), " but W is ", s, " ([d, 1, k, k] with an odd k)");
    expect(b.empty() || b.size() == x.cols(), "depthwise_conv2d: x is ", x.shape(), " but b is ",
           b.shape());

    Tensor y(x.shape());
    const std::int64_t taps = s[2] * s[3];
    kernels::depthwise2d(
        x, grid, {.w = ConstView(w.data(), x.cols(), taps), .bias = b.empty() ? nullptr : b.data()},
        y.view(), false);

    return record(y, {x, w, b}, [x, w, b, grid, taps](const Tensor& dy, Gradients& d) {
        if (d.wants(x)) {
            const Into dx = d.into(x);
            kernels::depthwise2d(
                dy, grid,
                {.w = ConstView(w.data(), x.cols(), taps), .order = kernels::TapOrder::backward},
                dx.view, dx.add);
        }
        if (d.wants(w)) {
            const Into dw = d.into(w);
            kernels::depthwise2d_weights(x, dy, grid, {dw.view.data, x.cols(), taps}, dw.add);
        }
        if (!b.empty() && d.wants(b)) {
            const Into db = d.into(b);
            kernels::sum_rows(dy, db.view, db.add);
        }
    });
}

}  // namespace fovea
