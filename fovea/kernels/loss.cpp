#include "fovea/kernels/loss.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

std::int64_t rows_per_chunk(std::int64_t cols) {
    return std::max<std::int64_t>(1, (1 << 13) / std::max<std::int64_t>(1, cols));
}

float fold(float* lane) {
    for (int s = 8; s; s /= 2)
        for (int k = 0; k < s; ++k) lane[k] += lane[k + s];
    return lane[0];
}

}  // namespace

void cross_entropy(ConstView logits, const std::int32_t* labels, std::int32_t ignored,
                   float smoothing, SoftmaxStats* stats, float* loss) {
    const std::int64_t n = logits.cols;
    parallel_for(logits.rows, rows_per_chunk(n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const float* x = logits.row(i);
            const float m = *std::max_element(x, x + n);
            float sum[16] = {}, mean[16] = {};
            for (std::int64_t j = 0; j < n; ++j) {
                sum[j % 16] += std::exp(x[j] - m);
                mean[j % 16] += x[j] - m;
            }
            const float total = fold(sum);
            stats[i] = {m, 1.0f / total};
            if (labels[i] == ignored) {
                loss[i] = 0;
                continue;
            }
            loss[i] = std::log(total) - (1 - smoothing) * (x[labels[i]] - m);
            if (smoothing > 0) loss[i] -= smoothing * (fold(mean) / static_cast<float>(n));
        }
    });
}

void cross_entropy_backward(ConstView logits, const std::int32_t* labels, std::int32_t ignored,
                            float smoothing, const SoftmaxStats* stats, const float* factor,
                            View dlogits, bool accumulate) {
    const std::int64_t n = logits.cols;
    parallel_for(logits.rows, rows_per_chunk(n), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const float* x = logits.row(i);
            float* to = dlogits.row(i);
            if (labels[i] == ignored) {
                if (!accumulate) std::fill_n(to, n, 0.0f);
                continue;
            }
            const float f = factor[i], uniform = smoothing / static_cast<float>(n);
            const float before = accumulate ? to[labels[i]] : 0.0f;
            const float own = std::exp(x[labels[i]] - stats[i].largest) * stats[i].inverse;
            for (std::int64_t j = 0; j < n; ++j) {
                const float v =
                    f * (std::exp(x[j] - stats[i].largest) * stats[i].inverse - uniform);
                to[j] = accumulate ? to[j] + v : v;
            }
            to[labels[i]] = before + f * (own - uniform - (1 - smoothing));
        }
    });
}

}  // namespace fovea::kernels
