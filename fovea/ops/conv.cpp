#include "fovea/ops/conv.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/conv.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/linear.h"

namespace fovea {
namespace {

using kernels::Window;

void expect_window(const char* op, const Window& w) {
    expect(w.size > 0 && w.stride > 0 && w.padding >= 0, op, ": kernel ", w.size, ", stride ",
           w.stride, " and padding ", w.padding, " do not make a convolution");
}

Segments windows_of(const Segments& segments, const Window& window) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t s = 0; s < segments.count(); ++s)
        lengths.push_back(window.outputs(segments.length(s)));
    const auto samples = segments.samples();
    return Segments::of_lengths(lengths, {samples.begin(), samples.end()});
}

//   y[o] = x[o·stride − padding … + k − 1], transposed to [in, k]    dx = their sums
Tensor sequence_windows(const Tensor& x, const Segments& in, const Window& window) {
    const Segments out = windows_of(in, window);
    Tensor y({out.total(), checked_mul(x.cols(), window.size)});
    kernels::sequence_windows(x, in.offsets(), window, out.offsets(), y.view());
    y.set_row_names(out);
    return record(y, {x}, [x = GradTarget(x), in, window, out](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::sequence_windows_backward(dy, in.offsets(), window, out.offsets(), dx.view,
                                           dx.add);
    });
}

//   y[position] = what the kernel sees there, [in, h, w]    dx = their sums
Tensor image_windows(const Tensor& x, const kernels::ImageWindows& shape) {
    const std::int64_t rows = checked_mul(
        shape.images,
        checked_mul(shape.vertical.outputs(shape.height), shape.horizontal.outputs(shape.width)));
    Tensor y({rows, checked_mul(shape.channels,
                                checked_mul(shape.vertical.size, shape.horizontal.size))});
    kernels::image_windows(x.data(), shape, y.view());
    return record(y, {x}, [x = GradTarget(x), shape](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::image_windows_backward(dy, shape, dx.view.data, dx.add);
    });
}

// [out, …] as a matrix.
Tensor as_matrix(const Tensor& w) {
    const std::int64_t out = w.shape()[0];
    return w.reshaped({out, w.shape().size() / out});
}

}  // namespace

Segments conv1d_segments(const Segments& segments, std::int64_t k, const Conv1dOptions& o) {
    const Window window{k, o.stride, o.padding};
    expect_window("conv1d", window);
    return windows_of(segments, window);
}

//   y[o] = act(Σ_t W[:, :, t] x[o·stride − padding + t] + b)     within each sequence
Tensor conv1d(const Tensor& x, const Segments& segments, const Tensor& w, const Tensor& b,
              const Conv1dOptions& options) {
    expect_f32("conv1d", "x", x);
    expect(x.rows() == segments.total(), "conv1d: x is ", x.shape(), " but the segments have ",
           segments.total(), " rows");
    expect(w.shape().rank() == 3 && w.shape()[1] == x.cols() && w.shape().size() > 0,
           "conv1d: x is ", x.shape(), " but W is ", w.shape(), " ([out, in, k] wanted)");
    const Window window{w.shape()[2], options.stride, options.padding};
    expect_window("conv1d", window);
    return linear(sequence_windows(x, segments, window), as_matrix(w), b, options.act);
}

//   y[i, j] = act(Σ W[:, :, r, c] x[i·stride − padding + r, j·stride − padding + c] + b)
Tensor conv2d(const Tensor& images, const Tensor& w, const Tensor& b,
              const Conv2dOptions& options) {
    expect_f32("conv2d", "images", images);
    const Shape& x = images.shape();
    expect(x.rank() == 4, "conv2d: images are ", x, " but [n, channels, height, width] is wanted");
    expect(w.shape().rank() == 4 && w.shape()[1] == x[1] && w.shape().size() > 0,
           "conv2d: images are ", x, " but W is ", w.shape(), " ([out, in, h, w] wanted)");
    const kernels::ImageWindows shape{
        .images = x[0],
        .channels = x[1],
        .height = x[2],
        .width = x[3],
        .vertical = {w.shape()[2], options.stride, options.padding},
        .horizontal = {w.shape()[3], options.stride, options.padding}};
    expect_window("conv2d", shape.vertical);
    expect_window("conv2d", shape.horizontal);
    return linear(image_windows(images, shape), as_matrix(w), b, options.act);
}

}  // namespace fovea
