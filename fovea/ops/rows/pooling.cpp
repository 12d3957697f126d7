#include "fovea/ops/rows/pooling.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/rows/pool.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

// The result's rows: each is row 0 of its sample.
Tensor pooled(const char* op, const Tensor& x, const Segments& segments) {
    expect_f32(op, "x", x);
    expect(x.rows() == segments.total(), op, ": x is ", x.shape(), " but the segments have ",
           segments.total(), " rows");
    Tensor y({segments.count(), x.cols()});
    std::vector<std::int64_t> ones(static_cast<std::size_t>(segments.count()), 1);
    const auto samples = segments.samples();
    y.set_row_names(Segments::of_lengths(ones, {samples.begin(), samples.end()}));
    return y;
}

Tensor segment_end(const char* op, const Tensor& x, const Segments& segments, kernels::End end) {
    Tensor y = pooled(op, x, segments);
    kernels::segment_end(x, segments.offsets(), end, y.view());
    return record(y, {x}, [x = GradTarget(x), segments, end](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::segment_end_backward(dy, segments.offsets(), end, dx.view, dx.add);
    });
}

}  // namespace

//   y[s] = Σ x[i] / n    dx[i] = dy[s] / n       i over the n rows of segment s
Tensor segment_mean(const Tensor& x, const Segments& segments) {
    Tensor y = pooled("segment_mean", x, segments);
    kernels::segment_mean(x, segments.offsets(), y.view());
    return record(y, {x}, [x = GradTarget(x), segments](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::segment_mean_backward(dy, segments.offsets(), dx.view, dx.add);
    });
}

//   y[s] = Σ weights[i] x[i]    dx[i] = weights[i] dy[s]
Tensor segment_sum(const Tensor& x, const std::vector<float>& weights, const Segments& segments) {
    Tensor y = pooled("segment_sum", x, segments);
    expect(static_cast<std::int64_t>(weights.size()) == x.rows(), "segment_sum: x is ", x.shape(),
           " but there are ", weights.size(), " weights");
    kernels::segment_sum(x, weights, segments.offsets(), y.view());
    return record(y, {x}, [x = GradTarget(x), weights, segments](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::segment_sum_backward(dy, weights, segments.offsets(), dx.view, dx.add);
    });
}

//   y[s, j] = max x[i, j]    dx[i, j] = dy[s, j] for the first i that has it, else 0
Tensor segment_max(const Tensor& x, const Segments& segments) {
    Tensor y = pooled("segment_max", x, segments);
    kernels::segment_max(x, segments.offsets(), y.view());
    return record(y, {x}, [x, y, segments](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::segment_max_backward(dy, x, y, segments.offsets(), dx.view, dx.add);
    });
}

//   y[s] = x[first row of s]    dx = dy there, 0 elsewhere
Tensor segment_first(const Tensor& x, const Segments& segments) {
    return segment_end("segment_first", x, segments, kernels::End::first);
}

//   y[s] = x[last row of s]    dx = dy there, 0 elsewhere
Tensor segment_last(const Tensor& x, const Segments& segments) {
    return segment_end("segment_last", x, segments, kernels::End::last);
}

}  // namespace fovea
