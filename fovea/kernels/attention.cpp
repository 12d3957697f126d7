#include "fovea/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fovea/base/philox.h"
#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

struct Row {  // one query row of one head: its keys, scores and weights
    std::vector<std::int64_t> index, packed;
    std::vector<float> weight, factor;
};

void fill(const AttentionCall& c, const VisibleGroup& g, std::int64_t i, int h, Row& row) {
    const std::int64_t dk = c.q.cols / c.heads;
    row.index.clear();
    row.packed.clear();
    for (const KeyInterval& x : c.sees.of_row(i))
        for (std::int64_t j = x.begin; j < x.end; ++j) {
            row.index.push_back(j);
            row.packed.push_back(packed_row(c.sees.runs_of(g), j));
        }
    row.weight.assign(row.index.size(), 0);
    row.factor.assign(row.index.size(), 1);
    for (std::size_t n = 0; n < row.index.size(); ++n) {
        const float *q = c.q.row(i) + h * dk, *k = c.k.row(row.packed[n]) + h * dk;
        float s = 0;
        for (std::int64_t x = 0; x < dk; ++x) s = std::fma(q[x], k[x], s);
        row.weight[n] = s * c.scale;
        if (c.dropout.p > 0) {
            const std::uint64_t sample = c.dropout.samples[i];
            const PhiloxBlock r = philox(
                {static_cast<std::uint32_t>(row.index[n] / 4), c.dropout.positions[i],
                 static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32)},
                c.dropout.key + static_cast<std::uint64_t>(h) * 0x9E3779B97F4A7C15u);
            const double u = r[static_cast<std::size_t>(row.index[n] % 4)] * 0x1p-32;
            row.factor[n] = u < c.dropout.p ? 0.0f : 1.0f / (1.0f - c.dropout.p);
        }
    }
}

void soften(Row& row, float lse) {
    for (float& w : row.weight) w = std::exp(w - lse);
}

}  // namespace

void attention_forward(const AttentionCall& c, View out, View lse) {
    const std::int64_t dv = c.v.cols / c.heads, heads = c.head_end - c.head_begin;
    const auto groups = static_cast<std::int64_t>(c.sees.groups.size());
    parallel_for(groups * heads, 1, [&](std::int64_t begin, std::int64_t end) {
        Row row;
        for (std::int64_t item = begin; item < end; ++item) {
            const VisibleGroup& g = c.sees.groups[static_cast<std::size_t>(item / heads)];
            const int h = c.head_begin + static_cast<int>(item % heads);
            for (std::int64_t i = g.q_begin; i < g.q_end; ++i) {
                fill(c, g, i, h, row);
                float m = -std::numeric_limits<float>::infinity(), sum = 0;
                for (const float s : row.weight) m = std::max(m, s);
                for (const float s : row.weight) sum += std::exp(s - m);
                lse.row(h)[i] = row.weight.empty() ? 0.0f : m + std::log(sum);
                soften(row, lse.row(h)[i]);
                float* o = out.row(i) + h * dv;
                std::fill_n(o, dv, 0.0f);
                for (std::size_t n = 0; n < row.index.size(); ++n) {
                    const float *v = c.v.row(row.packed[n]) + h * dv,
                                w = row.weight[n] * row.factor[n];
                    for (std::int64_t x = 0; x < dv; ++x) o[x] = std::fma(w, v[x], o[x]);
                }
            }
        }
    });
}

void attention_backward(const AttentionCall& c, ConstView out, ConstView lse, ConstView dout,
                        const AttentionGradients& gradients) {
    const std::int64_t dk = c.q.cols / c.heads, dv = c.v.cols / c.heads;
    const std::int64_t heads = c.head_end - c.head_begin;
    for (const GradientView* g : {&gradients.dq, &gradients.dk, &gradients.dv})
        if (*g && !g->add)
            for (std::int64_t i = 0; i < g->view.rows; ++i) {
                const std::int64_t d = g->view.cols / c.heads;
                std::fill_n(g->view.row(i) + c.head_begin * d, heads * d, 0.0f);
            }
    parallel_for(c.sees.clusters() * heads, 1, [&](std::int64_t begin, std::int64_t end) {
        Row row;
        for (std::int64_t item = begin; item < end; ++item) {
            const auto cluster = static_cast<std::size_t>(item / heads);
            const int h = c.head_begin + static_cast<int>(item % heads);
            for (std::int64_t x = c.sees.cluster_offsets[cluster];
                 x < c.sees.cluster_offsets[cluster + 1]; ++x) {
                const VisibleGroup& g = c.sees.groups[static_cast<std::size_t>(
                    c.sees.cluster_groups[static_cast<std::size_t>(x)])];
                for (std::int64_t i = g.q_begin; i < g.q_end; ++i) {
                    fill(c, g, i, h, row);
                    soften(row, lse.row(h)[i]);
                    const float *dy = dout.row(i) + h * dv, *y = out.row(i) + h * dv;
                    const float* q = c.q.row(i) + h * dk;
                    float mean = 0;
                    for (std::int64_t e = 0; e < dv; ++e) mean = std::fma(dy[e], y[e], mean);
                    for (std::size_t n = 0; n < row.index.size(); ++n) {
                        const std::int64_t j = row.packed[n];
                        const float *v = c.v.row(j) + h * dv, *k = c.k.row(j) + h * dk;
                        const float w = row.weight[n] * row.factor[n];
                        float dp = 0;
                        for (std::int64_t e = 0; e < dv; ++e) dp = std::fma(dy[e], v[e], dp);
                        const float ds = row.weight[n] * (dp * row.factor[n] - mean) * c.scale;
                        if (gradients.dv)
                            for (std::int64_t e = 0; e < dv; ++e)
                                gradients.dv.view.row(j)[h * dv + e] += w * dy[e];
                        if (gradients.dq)
                            for (std::int64_t e = 0; e < dk; ++e)
                                gradients.dq.view.row(i)[h * dk + e] += ds * k[e];
                        if (gradients.dk)
                            for (std::int64_t e = 0; e < dk; ++e)
                                gradients.dk.view.row(j)[h * dk + e] += ds * q[e];
                    }
                }
            }
        }
    });
}

}  // namespace fovea::kernels
