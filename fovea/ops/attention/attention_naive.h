#pragma once
// Attention by its formula, pair by pair in double: what attention's tests compare with.
#include <cmath>
#include <vector>

#include "fovea/ops/attention/attention.h"
#include "fovea/ops/op_check.h"

namespace fovea {

struct NaiveAttention {
    int heads = 1;
    std::int64_t dk = 8, dv = 8;
    std::vector<Visibility> sees;  // one for all heads, or one per head
    double scale = 1;
    // Score of one pair given the inputs (q, k, v, then parameters): scale q·k unless set.
    std::function<double(const std::vector<Doubles>& x, int head, std::int64_t q_row,
                         std::int64_t k_row, std::int64_t distance)>
        score{};
    // What a weight is multiplied by after the softmax: 1 unless set.
    std::function<double(const std::vector<Doubles>& x, int head, std::int64_t q_row,
                         std::int64_t index)>
        factor{};

    double dot(const Doubles& a, std::int64_t i, const Doubles& b, std::int64_t j, int h) const {
        double s = 0;
        for (std::int64_t e = 0; e < dk; ++e)
            s += a[static_cast<std::size_t>((i * heads + h) * dk + e)] *
                 b[static_cast<std::size_t>((j * heads + h) * dk + e)];
        return s;
    }

    // visit(head, row, packed rows of its keys, weights) for each row of each head; weights are
    // the softmax, or the scores themselves.
    template <class Visit>
    void for_rows(const std::vector<Doubles>& x, bool softmax, Visit&& visit) const {
        for (int h = 0; h < heads; ++h) {
            const Visibility& own = sees.size() == 1 ? sees[0] : sees[static_cast<std::size_t>(h)];
            const VisibilityView view = own.view();
            for (const VisibleGroup& g : view.groups)
                for (std::int64_t i = g.q_begin; i < g.q_end; ++i) {
                    std::vector<std::int64_t> keys, index;
                    Doubles w;
                    double max = -1e300, sum = 0;
                    for (const KeyInterval& n : view.of_row(i))
                        for (std::int64_t j = n.begin; j < n.end; ++j) {
                            const std::int64_t row = packed_row(view.runs_of(g), j);
                            const std::int64_t distance = g.position + i - g.q_begin - j;
                            keys.push_back(row);
                            index.push_back(j);
                            w.push_back(score ? score(x, h, i, row, distance)
                                              : scale * dot(x[0], i, x[1], row, h));
                            max = std::max(max, w.back());
                        }
                    if (softmax) {
                        for (double& s : w) sum += s = std::exp(s - max);
                        for (std::size_t n = 0; n < w.size(); ++n)
                            w[n] *= (factor ? factor(x, h, i, index[n]) : 1.0) / sum;
                    }
                    visit(h, i, keys, w);
                }
        }
    }

    Doubles operator()(const std::vector<Doubles>& x) const {
        Doubles y(static_cast<std::size_t>(sees[0].queries() * heads * dv));
        for_rows(
            x, true,
            [&](int h, std::int64_t i, const std::vector<std::int64_t>& keys, const Doubles& w) {
                for (std::size_t n = 0; n < keys.size(); ++n)
                    for (std::int64_t e = 0; e < dv; ++e)
                        y[static_cast<std::size_t>((i * heads + h) * dv + e)] +=
                            w[n] * x[2][static_cast<std::size_t>((keys[n] * heads + h) * dv + e)];
            });
        return y;
    }
};

}  // namespace fovea
