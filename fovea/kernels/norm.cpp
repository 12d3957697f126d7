#include "fovea/kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

constexpr std::int64_t chunk_rows = 64;

std::int64_t rows_per_chunk(std::int64_t cols) {
    return std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, cols));
}

float mean_of(const float* x, std::int64_t n, float shift) {
    float lane[16] = {};
    for (std::int64_t i = 0; i < n; ++i) lane[i % 16] += x[i] - shift;
    for (int s = 8; s; s /= 2)
        for (int k = 0; k < s; ++k) lane[k] += lane[k + s];
    return lane[0] / static_cast<float>(n);
}

}  // namespace

void layer_norm(ConstView x, const float* gamma, const float* beta, float eps, View y,
                NormStats* stats) {
    parallel_for(x.rows, rows_per_chunk(x.cols), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const float* r = x.row(i);
            const float mean = mean_of(r, x.cols, 0), rest = mean_of(r, x.cols, mean);
            float lane[16] = {};
            for (std::int64_t j = 0; j < x.cols; ++j) {
                const float c = (r[j] - mean) - rest;
                lane[j % 16] += c * c;
            }
            for (int s = 8; s; s /= 2)
                for (int k = 0; k < s; ++k) lane[k] += lane[k + s];
            const float inverse = 1.0f / std::sqrt(lane[0] / static_cast<float>(x.cols) + eps);
            for (std::int64_t j = 0; j < x.cols; ++j)
                y.row(i)[j] = ((r[j] - mean) - rest) * inverse * gamma[j] + (beta ? beta[j] : 0.0f);
            if (stats) stats[i] = {mean, rest, inverse};
        }
    });
}

std::int64_t norm_partial_size(std::int64_t rows, std::int64_t cols) {
    return 2 * ceil_div(std::max<std::int64_t>(1, rows), chunk_rows) * cols;
}

void layer_norm_backward(ConstView dy, ConstView x, const float* gamma, const NormStats* stats,
                         const NormGradients& out) {
    const std::int64_t chunks = ceil_div(x.rows, chunk_rows), n = x.cols;
    parallel_for(chunks, 1, [&](std::int64_t first, std::int64_t) {
        float* pg = out.partial + first * 2 * n;
        float* pb = pg + n;
        std::fill_n(pg, 2 * n, 0.0f);
        const std::int64_t last = std::min(x.rows, (first + 1) * chunk_rows);
        for (std::int64_t i = first * chunk_rows; i < last; ++i) {
            const NormStats s = stats[i];
            const float *r = x.row(i), *g = dy.row(i);
            float sum = 0, dot = 0;
            for (std::int64_t j = 0; j < n; ++j) {
                const float h = ((r[j] - s.mean) - s.mean_rest) * s.inverse;
                pg[j] += g[j] * h;
                pb[j] += g[j];
                sum += g[j] * gamma[j];
                dot += g[j] * gamma[j] * h;
            }
            if (!out.dx.data) continue;
            sum /= static_cast<float>(n);
            dot /= static_cast<float>(n);
            float* to = out.dx.row(i);
            for (std::int64_t j = 0; j < n; ++j) {
                const float h = ((r[j] - s.mean) - s.mean_rest) * s.inverse;
                const float v = s.inverse * (g[j] * gamma[j] - sum - h * dot);
                to[j] = out.add_dx ? to[j] + v : v;
            }
        }
    });
    for (std::int64_t step = 1; step < chunks; step *= 2)
        for (std::int64_t c = 0; c + step < chunks; c += 2 * step)
            for (std::int64_t j = 0; j < 2 * n; ++j)
                out.partial[c * 2 * n + j] += out.partial[(c + step) * 2 * n + j];
    const auto finish = [&](float* to, const float* from, bool add) {
        if (!to) return;
        for (std::int64_t j = 0; j < n; ++j)
            to[j] = (add ? to[j] : 0.0f) + (chunks ? from[j] : 0.0f);
    };
    finish(out.dgamma, out.partial, out.add_dgamma);
    finish(out.dbeta, out.partial + n, out.add_dbeta);
}

}  // namespace fovea::kernels
