#include "fovea/ops/resize.h"

#include <algorithm>

#include "fovea/autograd/tape.h"
#include "fovea/kernels/mix_grid.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/conv2d.h"

namespace fovea {
namespace {

// Output o stands at (o + ½) · in / out − ½ between the inputs, not before the first.
kernels::AxisMix bilinear_axis(std::int64_t in, std::int64_t out) {
    kernels::AxisMix mix;
    const double scale = static_cast<double>(in) / static_cast<double>(out);
    for (std::int64_t o = 0; o < out; ++o) {
        const double at = std::max(0.0, (static_cast<double>(o) + 0.5) * scale - 0.5);
        const std::int64_t low = std::min(static_cast<std::int64_t>(at), in - 1);
        const auto far = static_cast<float>(at - static_cast<double>(low));
        mix.input.push_back(low);
        mix.weight.push_back(low + 1 < in ? 1 - far : 1.0f);
        if (low + 1 < in) {
            mix.input.push_back(low + 1);
            mix.weight.push_back(far);
        }
        mix.offsets.push_back(static_cast<std::int64_t>(mix.input.size()));
    }
    return mix;
}

}  // namespace

//   y[i, j] = Σ u_i[a] v_j[b] x[a, b], two inputs each way    dx[a, b] = Σ u_i[a] v_j[b] dy[i, j]
Tensor resize_bilinear(const Tensor& x, const Grid& grid, std::int64_t height, std::int64_t width) {
    expect_f32("resize_bilinear", "x", x);
    expect(x.rows() == grid.rows(), "resize_bilinear: x is ", x.shape(), " but the grid is ",
           grid.images, " x ", grid.height, " x ", grid.width);
    expect(height > 0 && width > 0 && grid.height > 0 && grid.width > 0,
           "resize_bilinear: ", grid.height, " x ", grid.width, " cannot be made ", height, " x ",
           width);
    if (height == grid.height && width == grid.width) return x;

    const Grid out{grid.images, height, width};
    const kernels::AxisMix rows = bilinear_axis(grid.height, height),
                           cols = bilinear_axis(grid.width, width);
    Tensor y({out.rows(), x.cols()});
    kernels::mix_grid(x, grid, rows, cols, y.view(), false);

    y.set_row_names(grid_segments(out, x));
    return record(y, {x}, [x = GradTarget(x), grid, out](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::mix_grid(dy, out, bilinear_axis(grid.height, out.height).transposed(grid.height),
                          bilinear_axis(grid.width, out.width).transposed(grid.width), dx.view,
                          dx.add);
    });
}

}  // namespace fovea
