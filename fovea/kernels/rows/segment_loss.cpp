#include "fovea/kernels/rows/segment_loss.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

template <class Body>
void each_segment_column(ConstView x, std::span<const std::int64_t> offsets, const Body& body) {
    const auto segments = static_cast<std::int64_t>(offsets.size()) - 1;
    parallel_for(segments, 1, [&](std::int64_t s, std::int64_t) {
        const std::int64_t begin = offsets[static_cast<std::size_t>(s)],
                           end = offsets[static_cast<std::size_t>(s) + 1];
        for (std::int64_t j = 0; j < x.cols; ++j) body(s * x.cols + j, j, begin, end);
    });
}

}  // namespace

void segment_cross_entropy(const SegmentChoice& choice, double* log_sums, double* losses) {
    const ConstView x = choice.x;
    const std::int32_t* labels = choice.labels;
    each_segment_column(
        x, choice.offsets,
        [&](std::int64_t cell, std::int64_t j, std::int64_t begin, std::int64_t end) {
            losses[cell] = log_sums[cell] = 0;
            if (labels[cell] < 0) return;
            double most = x.row(begin)[j], sum = 0;
            for (std::int64_t i = begin; i < end; ++i) most = std::max<double>(most, x.row(i)[j]);
            for (std::int64_t i = begin; i < end; ++i) sum += std::exp(x.row(i)[j] - most);
            log_sums[cell] = most + std::log(sum);
            losses[cell] = log_sums[cell] - x.row(begin + labels[cell])[j];
        });
}

void segment_cross_entropy_backward(const SegmentChoice& choice, const double* log_sums,
                                    double factor, View dx, bool add) {
    const ConstView x = choice.x;
    const std::int32_t* labels = choice.labels;
    each_segment_column(
        x, choice.offsets,
        [&](std::int64_t cell, std::int64_t j, std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                double g = 0;
                if (labels[cell] >= 0)
                    g = factor * (std::exp(x.row(i)[j] - log_sums[cell]) -
                                  (i - begin == labels[cell] ? 1.0 : 0.0));
                float& to = dx.row(i)[j];
                to = (add ? to : 0.0f) + static_cast<float>(g);
            }
        });
}

}  // namespace fovea::kernels
