#include "fovea/ops/attention/bound_score.h"

#include <algorithm>

#include "fovea/ops/arguments.h"

namespace fovea {

void ScoreCall::expect_row(const char* name, const Tensor& x) const {
    expect_f32(where, name, x);
    expect(x.size() == q.cols(), where, ": ", name, " is ", x.shape(), " but q is ", q.shape());
}

void ScoreCall::expect_rows(const char* name, const Tensor& x) const {
    expect_f32(where, name, x);
    expect(x.cols() == q.cols(), where, ": ", name, " is ", x.shape(), " but q is ", q.shape());
}

void ScoreCall::expect_per_row(const char* what, const Ids& of_q, const Ids& of_k) const {
    expect(static_cast<std::int64_t>(of_q.size()) == q.rows() &&
               static_cast<std::int64_t>(of_k.size()) == k.rows(),
           where, ": ", what, " for ", of_q.size(), " and ", of_k.size(), " rows but q has ",
           q.rows(), " and k has ", k.rows());
}

ScoreCall::Distances ScoreCall::distances(const RowPositions& positions) const {
    expect(positions.q.empty() == positions.k.empty(), where,
           ": positions of queries and of keys must be given together");
    if (!positions.q.empty()) expect_per_row("positions", positions.q, positions.k);
    Distances all;
    const auto include = [&](std::int64_t lowest, std::int64_t highest) {
        if (all.lowest > all.highest) all = {lowest, highest};
        all.lowest = std::min(all.lowest, lowest);
        all.highest = std::max(all.highest, highest);
    };
    for (const Visibility& visibility : sees) {
        const VisibilityView view = visibility.view();
        for (const VisibleGroup& g : view.groups) {
            if (positions.q.empty()) {
                for (std::int64_t i = g.q_begin; i < g.q_end; ++i) {
                    const auto row = view.of_row(i);
                    const std::int64_t at = g.position + i - g.q_begin;
                    if (!row.empty()) include(at - row.back().end + 1, at - row.front().begin);
                }
                continue;
            }
            if (g.q_begin == g.q_end || g.keys == 0) continue;
            const auto [q_min, q_max] =
                std::minmax_element(positions.q.begin() + g.q_begin, positions.q.begin() + g.q_end);
            for (const KeyRun& r : view.runs_of(g)) {
                if (r.count == 0) continue;
                const auto [k_min, k_max] = std::minmax_element(
                    positions.k.begin() + r.row, positions.k.begin() + r.row + r.count);
                include(std::int64_t{*q_min} - *k_max, std::int64_t{*q_max} - *k_min);
            }
        }
    }
    return all;
}

bool BoundScore::wanted_by(const Gradients& d) const {
    return std::any_of(parameters_.begin(), parameters_.end(),
                       [&](const Tensor& p) { return d.wants(p); });
}

void BoundScore::scatter_gradients(const Tensor& dparameters, Gradients& d) const {
    const std::int64_t heads = dparameters.rows(), size = dparameters.cols();
    const float* from = dparameters.data();
    std::int64_t first = 0;  // float of a head
    for (const Tensor& p : parameters_) {
        const std::int64_t n = p.size() / heads, dk = p.cols() / heads;
        if (d.wants(p)) {
            const Into into = d.into(p);
            for (std::int64_t t = 0; t < n / dk; ++t)
                for (std::int64_t h = 0; h < heads; ++h)
                    for (std::int64_t e = 0; e < dk; ++e) {
                        float& to = into.view.data[(t * heads + h) * dk + e];
                        to = (into.add ? to : 0.0f) + from[h * size + first + t * dk + e];
                    }
        }
        first += n;
    }
    expect(first == size, "attention: a score has parameters of ", first,
           " numbers per head but its kernel has gradients for ", size);
}

}  // namespace fovea
