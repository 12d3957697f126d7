#include "fovea/ops/loss/segment_cross_entropy.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/rows/segment_loss.h"
#include "fovea/ops/arguments.h"

namespace fovea {

//   p[i, j] = exp(x[i, j]) / Σ exp(x[i', j]) over the rows i' of i's segment s
//   y = mean over labels of −log p[label[s, j], j]      dx = dy (p − onehot) / labels
//   x [total, c]   labels [segments, c]   y [1]
Tensor segment_cross_entropy(const Tensor& x, const Segments& segments, const Ids& labels) {
    expect_f32("segment_cross_entropy", "scores", x);
    expect(x.rows() == segments.total(), "segment_cross_entropy: scores are ", x.shape(),
           " but the segments have ", segments.total(), " rows");
    expect(static_cast<std::int64_t>(labels.size()) == segments.count() * x.cols(),
           "segment_cross_entropy: ", labels.size(), " labels for ", segments.count(),
           " segments and ", x.cols(), " columns");
    std::int64_t counted = 0;
    for (std::size_t l = 0; l < labels.size(); ++l) {
        const std::int64_t s = static_cast<std::int64_t>(l) / x.cols();
        expect(labels[l] < segments.length(s), "segment_cross_entropy: label ", labels[l],
               " of segment ", s, ", which has ", segments.length(s), " rows");
        counted += labels[l] >= 0;
    }

    std::vector<double> log_sums(labels.size()), losses(labels.size());
    kernels::segment_cross_entropy({x, segments.offsets(), labels.data()}, log_sums.data(),
                                   losses.data());
    double sum = 0;
    for (const double l : losses) sum += l;
    const double share = counted > 0 ? 1.0 / static_cast<double>(counted) : 0.0;
    const Tensor y = Tensor::scalar(static_cast<float>(share * sum));

    return record(y, {x}, [x, segments, labels, log_sums, share](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::segment_cross_entropy_backward({x, segments.offsets(), labels.data()},
                                                log_sums.data(), share * dy.item(), dx.view,
                                                dx.add);
    });
}

}  // namespace fovea
