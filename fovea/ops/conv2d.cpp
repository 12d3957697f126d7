#include "fovea/ops/conv2d.h"

#include <algorithm>

#include "fovea/autograd/tape.h"
#include "fovea/base/checked.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/activation.h"
#include "fovea/kernels/conv2d.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/gemm/gemm.h"
#include "fovea/kernels/rows/sum_rows.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/packed_weight.h"

namespace fovea {
namespace {

using kernels::GridWindows;
using kernels::LineRange;

// Lines whose windows fill about a megabyte: enough for the product, and still in the cache.
std::int64_t lines_at_once(const GridWindows& s, std::int64_t cols) {
    constexpr std::int64_t values = 1 << 18;
    return std::max<std::int64_t>(1, values / std::max<std::int64_t>(1, s.out_width() * cols));
}

// body(lines, their rows of the output), a few lines at a time, in order.
template <class Body>
void each_block(const GridWindows& s, std::int64_t cols, const Body& body) {
    if (s.out_width() == 0) return;
    const std::int64_t step = lines_at_once(s, cols);
    for (std::int64_t line = 0; line < s.out_lines(); line += step)
        body(LineRange{line, std::min(line + step, s.out_lines())});
}

// The same where each thread does everything for a few lines of its own: what it has gathered and
// weights that are small enough (`weight_bytes`) stay in its cache. Larger weights want all threads
// to share them over a block of lines.
template <class Body>
void each_piece(const GridWindows& s, std::int64_t cols, std::size_t weight_bytes,
                const Body& body) {
    constexpr std::size_t own_cache = 512 << 10;
    if (weight_bytes > own_cache || s.out_width() == 0) return each_block(s, cols, body);
    constexpr std::int64_t enough_rows = 48;  // for the product
    const std::int64_t step =
        std::min(lines_at_once(s, cols), ceil_div(enough_rows, s.out_width()));
    parallel_for(ceil_div(s.out_lines(), step), 1, [&](std::int64_t piece, std::int64_t past) {
        for (; piece < past; ++piece)
            body(LineRange{piece * step, std::min((piece + 1) * step, s.out_lines())});
    });
}

ConstView lines_of(ConstView y, const GridWindows& s, LineRange lines) {
    return y.block(lines.first * s.out_width(), lines.past * s.out_width(), 0, y.cols);
}
View lines_of(View y, const GridWindows& s, LineRange lines) {
    return y.block(lines.first * s.out_width(), lines.past * s.out_width(), 0, y.cols);
}

// W [out, in, h, w] as [out, h · w · in], as the windows lie.
Tensor weights_by_taps(const Tensor& w, std::int64_t taps) {
    const std::int64_t out = w.shape()[0];
    Tensor y({out, w.size() / out});
    kernels::taps_before_channels({w.data(), out, w.size() / out}, taps, y.view());
    return y;
}

struct Conv2dCall {
    Tensor x, w, b, by_taps, saved;  // by_taps: the weights as the windows lie
    GridWindows shape;
    Act act;

    void backward(const Tensor& dy, Gradients& d) const {
        Tensor dz = dy;
        if (act != Act::none) {
            dz = Tensor(dy.shape());
            kernels::activate_backward(act, dy.data(), saved.data(), dz.write(), dy.size());
        }
        if (d.wants(x)) x_gradient(dz, d.into(x));
        if (d.wants(w)) w_gradient(dz, d.into(w));
        if (!b.empty() && d.wants(b)) {
            const Into db = d.into(b);
            kernels::sum_rows(dz, db.view, db.add);
        }
    }

    //   the windows' gradients are dz W; each position of x takes the sum of those it was in
    void x_gradient(const Tensor& dz, Into dx) const {
        if (!dx.add) kernels::fill(dx.view.data, 0.0f, dx.view.size());
        const auto packed = packed_weight(by_taps, Trans::no);
        Tensor windows;
        each_block(shape, by_taps.cols(), [&](LineRange lines) {
            const ConstView g = lines_of(ConstView(dz), shape, lines);
            if (windows.empty() || windows.rows() != g.rows)
                windows = Tensor({g.rows, by_taps.cols()});
            kernels::gemm_packed(g, *packed, windows.view());
            kernels::add_grid_windows(windows, shape, lines, dx.view);
        });
    }

    //   dW = dzᵀ windows, gathered once more
    void w_gradient(const Tensor& dz, Into dw) const {
        Tensor sum = Tensor::zeros(by_taps.shape()), windows;
        each_block(shape, by_taps.cols(), [&](LineRange lines) {
            const ConstView g = lines_of(ConstView(dz), shape, lines);
            if (windows.empty() || windows.rows() != g.rows)
                windows = Tensor({g.rows, by_taps.cols()});
            kernels::grid_windows(x, shape, lines, windows.view());
            kernels::gemm(Trans::yes, Trans::no, g, windows, sum.view(),
                          {.accumulate = true, .precision = current_precision()});
        });
        kernels::channels_before_taps(sum, shape.taps(), {dw.view.data, sum.rows(), sum.cols()},
                                      dw.add);
    }
};

GridWindows checked_windows(const Tensor& x, const Grid& grid, const Tensor& w,
                            const Conv2dOptions& o) {
    expect_f32("conv2d", "x", x);
    expect_f32("conv2d", "W", w);
    expect(x.rows() == grid.rows(), "conv2d: x is ", x.shape(), " but the grid is ", grid.images,
           " x ", grid.height, " x ", grid.width);
    const Shape& s = w.shape();
    expect(s.rank() == 4 && s[1] == x.cols() && s.size() > 0, "conv2d: x is ", x.shape(),
           " but W is ", s, " ([out, in, h, w] wanted)");
    expect(o.stride > 0 && o.padding >= 0, "conv2d: stride ", o.stride, " and padding ", o.padding,
           " do not make a convolution");
    return {grid, {s[2], o.stride, o.padding}, {s[3], o.stride, o.padding}};
}

}  // namespace

Segments grid_segments(const Grid& grid, const Tensor& like) {
    std::vector<std::uint64_t> samples;
    if (!like.empty() && like.row_names() && like.row_names()->count() == grid.images) {
        const auto named = like.row_names()->samples();
        samples.assign(named.begin(), named.end());
    }
    return Segments::of_lengths(
        std::vector<std::int64_t>(static_cast<std::size_t>(grid.images), grid.area()),
        std::move(samples));
}

Grid conv2d_grid(const Grid& grid, std::int64_t h, std::int64_t w, const Conv2dOptions& o) {
    expect(h > 0 && w > 0 && o.stride > 0 && o.padding >= 0, "conv2d: kernel ", h, " x ", w,
           ", stride ", o.stride, " and padding ", o.padding, " do not make a convolution");
    return {grid.images, kernels::Window{h, o.stride, o.padding}.outputs(grid.height),
            kernels::Window{w, o.stride, o.padding}.outputs(grid.width)};
}

//   y[i, j] = act(Σ_rc W[:, :, r, c] x[i·stride − padding + r, j·stride − padding + c] + b)
//   dz = dy ∘ act'(z)    dx, dW: see Conv2dCall    db = Σ dz
Tensor conv2d(const Tensor& x, const Grid& grid, const Tensor& w, const Tensor& b,
              const Conv2dOptions& options) {
    const GridWindows shape = checked_windows(x, grid, w, options);
    const std::int64_t out = w.shape()[0];
    expect(b.empty() || b.size() == out, "conv2d: b is ", b.shape(), " but W is ", w.shape());
    const Grid to = conv2d_grid(grid, w.shape()[2], w.shape()[3], options);

    Tensor y({to.rows(), out});
    const bool tracked = is_tracked(x) || is_tracked(w) || (!b.empty() && is_tracked(b));
    // Training changes w before it is used again: only what is read often is kept.
    const Tensor weights = tracked ? weights_by_taps(w, shape.taps()) : Tensor();
    const auto packed = tracked
                            ? packed_weight(weights, Trans::yes)
                            : packed_by_taps(w, [&] { return weights_by_taps(w, shape.taps()); });
    const std::int64_t cols = w.size() / out;
    const bool keep_z = tracked && kernels::needs_input(options.act);
    Tensor saved = keep_z ? Tensor(y.shape()) : y;
    const View outputs = y.view(), inner = keep_z ? saved.view() : View();
    each_piece(shape, cols, packed->bytes(), [&](LineRange lines) {
        const View into = lines_of(outputs, shape, lines);
        Tensor windows({into.rows, cols});
        kernels::grid_windows(x, shape, lines, windows.view());
        kernels::gemm_packed(windows, *packed, into,
                             {.bias = b.empty() ? ConstView() : ConstView(b),
                              .act = options.act,
                              .pre = keep_z ? lines_of(inner, shape, lines) : View()});
    });

    y.set_row_names(grid_segments(to, x));
    if (options.act == Act::none) saved = Tensor();  // the output need not stay alive
    return record(y, {x, w, b},
                  [call = Conv2dCall{x, w, b, weights, saved, shape, options.act}](
                      const Tensor& dy, Gradients& d) { call.backward(dy, d); });
}

}  // namespace fovea
