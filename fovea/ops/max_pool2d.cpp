#include "fovea/ops/max_pool2d.h"

#include <memory>
#include <vector>

#include "fovea/autograd/tape.h"
#include "fovea/kernels/max_pool2d.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/conv2d.h"

namespace fovea {
namespace {

void expect_windows(const PoolOptions& o) {
    expect(o.size > 0 && o.size <= 16 && o.stride > 0 && o.padding >= 0 && o.padding <= o.size / 2,
           "max_pool2d: size ", o.size, " (1 to 16), stride ", o.stride, " and padding ", o.padding,
           " (at most half the size) do not make windows");
}

}  // namespace

Grid max_pool2d_grid(const Grid& grid, const PoolOptions& o) {
    expect_windows(o);
    return conv2d_grid(grid, o.size, o.size, {.stride = o.stride, .padding = o.padding});
}

//   y[i, j] = max_rc x[i·stride − padding + r, j·stride − padding + c]
//   dx[a, b] = Σ dy[i, j] over the windows whose first largest value stands at [a, b]
Tensor max_pool2d(const Tensor& x, const Grid& grid, const PoolOptions& o) {
    expect_f32("max_pool2d", "x", x);
    expect(x.rows() == grid.rows(), "max_pool2d: x is ", x.shape(), " but the grid is ",
           grid.images, " x ", grid.height, " x ", grid.width);
    const Grid to = max_pool2d_grid(grid, o);

    const kernels::Window window{o.size, o.stride, o.padding};
    const kernels::GridWindows shape{grid, window, window};
    Tensor y({to.rows(), x.cols()});
    const auto chosen =
        std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(y.size()));
    kernels::max_pool2d(x, shape, y.view(), chosen->data());

    y.set_row_names(grid_segments(to, x));
    return record(y, {x}, [x = GradTarget(x), shape, chosen](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::max_pool2d_backward(dy, shape, chosen->data(), dx.view, dx.add);
    });
}

}  // namespace fovea
