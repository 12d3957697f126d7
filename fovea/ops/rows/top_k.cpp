#include "fovea/ops/rows/top_k.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/kernels/rows/softmax.h"
#include "fovea/kernels/rows/top_k.h"

namespace fovea {

std::vector<TokenScores> top_scores(const Tensor& logits, int k) {
    expect(logits.cols() > 0, "top_scores: the logits are ", logits.shape());
    const auto n = static_cast<std::size_t>(logits.rows());
    const auto take = static_cast<std::size_t>(std::min<std::int64_t>(k, logits.cols()));
    std::vector<std::int32_t> ids(n * take);
    std::vector<float> sums(n);
    kernels::top_k(logits, static_cast<std::int64_t>(take), ids.data());
    kernels::log_sum_exp(logits, sums.data());
    std::vector<TokenScores> rows(n);
    for (std::size_t r = 0; r < n; ++r) {
        TokenScores& row = rows[r];
        row.logits = logits.data() + static_cast<std::int64_t>(r) * logits.cols();
        row.vocabulary = logits.cols();
        row.log_sum_exp = sums[r];
        row.best.assign(ids.begin() + static_cast<std::ptrdiff_t>(r * take),
                        ids.begin() + static_cast<std::ptrdiff_t>((r + 1) * take));
        for (const std::int32_t t : row.best) row.log_probs.push_back(row.log_prob(t));
    }
    return rows;
}

TokenMasses TokenScores::kept(const SamplingCuts& cuts) const {
    TokenMasses out;
    std::vector<std::int32_t>& order = out.tokens;
    order.resize(static_cast<std::size_t>(vocabulary));
    std::iota(order.begin(), order.end(), 0);
    const auto higher = [this](std::int32_t a, std::int32_t b) {
        return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    };
    const bool all = cuts.top_k <= 0 && cuts.top_p >= 1.0 && cuts.min_p <= 0;
    if (cuts.top_k > 0 && cuts.top_k < vocabulary) {
        std::partial_sort(order.begin(), order.begin() + cuts.top_k, order.end(), higher);
        order.resize(static_cast<std::size_t>(cuts.top_k));
    } else if (!all) {
        std::sort(order.begin(), order.end(), higher);
    }
    const float largest = all ? *std::max_element(logits, logits + vocabulary) : logits[order[0]];
    std::vector<double>& mass = out.masses;
    mass.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        out.total += mass[i] =
            std::exp((static_cast<double>(logits[order[i]]) - largest) / cuts.temperature);
    if (all) return out;
    std::size_t keep = mass.size();
    if (cuts.top_p < 1.0) {  // the smallest head of the sorted list that holds top_p of the mass
        double held = 0;
        for (keep = 0; keep < mass.size() && held < cuts.top_p * out.total;) held += mass[keep++];
    }
    // The best token has mass 1, so min_p is a bound on the mass itself.
    while (keep > 1 && mass[keep - 1] < cuts.min_p) --keep;
    keep = std::max<std::size_t>(keep, 1);
    if (keep == mass.size()) return out;
    mass.resize(keep);
    order.resize(keep);
    out.total = std::accumulate(mass.begin(), mass.end(), 0.0);
    return out;
}

std::pair<std::int32_t, float> TokenScores::sample(double uniform, const SamplingCuts& cuts) const {
    const TokenMasses from = kept(cuts);
    double left = uniform * from.total;
    std::size_t i = 0;
    while (i + 1 < from.masses.size() && left >= from.masses[i]) left -= from.masses[i++];
    return {from.tokens[i], log_prob(from.tokens[i])};
}

}  // namespace fovea
