#include <cmath>
#include <limits>

#include "fovea/autograd/tape.h"
#include "fovea/base/philox.h"
#include "fovea/base/threads.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/attention/attention_plan.h"
#include "fovea/ops/attention/probe.h"

namespace fovea {
namespace {

// Calls run(row, group, first score of the row, its keys) for the rows of a visibility in order;
// rows are split between threads.
template <class Run>
void for_rows(const VisibilityView& sees, const Segments& scores, Run&& run) {
    parallel_for(static_cast<std::int64_t>(sees.groups.size()), 1,
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t g = begin; g < end; ++g) {
                         const VisibleGroup& group = sees.groups[static_cast<std::size_t>(g)];
                         for (std::int64_t i = group.q_begin; i < group.q_end; ++i)
                             run(i, group, scores.begin(i));
                     }
                 });
}

// visit(place, packed row, logical index) of each key of a row, in order.
template <class Visit>
void for_keys(const VisibilityView& sees, const VisibleGroup& group, std::int64_t row,
              std::int64_t place, Visit&& visit) {
    for (const KeyInterval& x : sees.of_row(row))
        for (std::int64_t j = x.begin; j < x.end; ++j)
            visit(place++, packed_row(sees.runs_of(group), j), j);
}

// Turns a row's scores into softmax weights, in double: sums of a row in its own order.
void soften(float* s, std::int64_t n) {
    float max = -std::numeric_limits<float>::infinity();
    for (std::int64_t j = 0; j < n; ++j) max = std::max(max, s[j]);
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) sum += std::exp(static_cast<double>(s[j]) - max);
    for (std::int64_t j = 0; j < n; ++j)
        s[j] = static_cast<float>(std::exp(static_cast<double>(s[j]) - max) / sum);
}

// A number in [0, 1) for a row of a head, by the same names dropout uses.
double draw(std::uint64_t key, int head, std::uint64_t sample, std::int64_t position) {
    const PhiloxBlock r =
        philox({static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(position),
                static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32)},
               key);
    return (static_cast<double>(r[0]) + 0.5) * 0x1p-32;
}

struct Choice {
    std::vector<std::int64_t> key;  // [heads · nq] packed row, -1: the row sees nothing
};

// dv[j*] += dy
void give_to_chosen(const AttentionPlan& plan, const std::vector<std::int64_t>& chosen,
                    const Tensor& dy, const Into& into) {
    const std::int64_t nq = plan.q.rows(), dv = plan.v.cols() / plan.heads;
    if (!into.add) std::fill_n(into.view.data, plan.v.size(), 0.0f);
    for (int h = 0; h < plan.heads; ++h)
        for (std::int64_t i = 0; i < nq; ++i) {
            const std::int64_t row = chosen[static_cast<std::size_t>(h * nq + i)];
            if (row < 0) continue;
            float* to = into.view.row(row) + h * dv;
            const float* from = dy.data() + i * dy.cols() + h * dv;
            for (std::int64_t e = 0; e < dv; ++e) to[e] += from[e];
        }
}

// dp = dy vᵀ    ds = p ∘ (dp − Σ p∘dp), over the visible pairs of a head
Tensor score_gradients(const AttentionPlan& plan, int head, const Tensor& dy) {
    const std::int64_t dv = plan.v.cols() / plan.heads;
    const VisibilityView view = plan.of_head(head).view();
    const Segments rows = plan.of_head(head).visible_counts();
    Tensor ds({rows.total()});
    float* w = ds.write();
    plan.scores(head, w);
    for_rows(view, rows, [&](std::int64_t i, const VisibleGroup& group, std::int64_t first) {
        const std::int64_t n = rows.length(i);
        soften(w + first, n);
        std::vector<double> dp(static_cast<std::size_t>(n));
        double mean = 0;
        for_keys(view, group, i, 0, [&](std::int64_t at, std::int64_t row, std::int64_t) {
            const float* x = plan.v.data() + row * plan.v.cols() + head * dv;
            const float* g = dy.data() + i * dy.cols() + head * dv;
            double sum = 0;
            for (std::int64_t e = 0; e < dv; ++e) sum += static_cast<double>(x[e]) * g[e];
            dp[static_cast<std::size_t>(at)] = sum;
            mean += w[first + at] * sum;
        });
        for (std::int64_t j = 0; j < n; ++j)
            w[first + j] =
                static_cast<float>(w[first + j] * (dp[static_cast<std::size_t>(j)] - mean));
    });
    return ds;
}

}  // namespace

//   p = softmax(score(q, k))    j* ~ p, or its largest    y = v[j*]      shapes as attention
//   Straight-through:  dv[j*] = dy    dp = dy vᵀ    ds = p ∘ (dp − Σ p∘dp)    and as attention
Tensor attention_hard(const Tensor& q, const Tensor& k, const Tensor& v, int heads,
                      const Visibility& sees, const AttentionOptions& options) {
    expect(!v.empty(), "attention_hard: v is an empty tensor");
    const auto plan = std::make_shared<const AttentionPlan>(
        "attention_hard", AttentionOperands{q, k, v, heads}, sees, options);
    expect(!plan->score().has_factor(),
           "attention_hard: a Gaussian's weights do not sum to 1, so no key can be drawn by them");

    Tape* tape = current_tape();
    const bool sample = tape && tape->has_dropout();
    const std::uint64_t key =
        sample
            ? tape->dropout_key() ^ (std::uint64_t{tape->next_dropout_site()} * 0xD1B54A32D192ED03u)
            : 0;
    const std::int64_t nq = q.rows(), dv = v.cols() / heads;
    Tensor y = Tensor::zeros({nq, v.cols()});
    float* out = y.write();
    auto choice = std::make_shared<Choice>();
    choice->key.assign(static_cast<std::size_t>(heads * nq), -1);
    std::optional<RowsOfSamples> named;
    if (sample) named.emplace("attention_hard", q);

    for (int h = 0; h < heads; ++h) {
        const VisibilityView view = plan->of_head(h).view();
        const Segments rows = plan->of_head(h).visible_counts();
        Tensor p({rows.total()});
        float* w = p.write();
        plan->scores(h, w);
        for_rows(view, rows, [&](std::int64_t i, const VisibleGroup& group, std::int64_t first) {
            const std::int64_t n = rows.length(i);
            if (n == 0) return;
            std::int64_t pick = 0;
            if (sample) {
                soften(w + first, n);
                double left = draw(key, h, named->samples[static_cast<std::size_t>(i)],
                                   named->positions[static_cast<std::size_t>(i)]);
                for (; pick + 1 < n && left >= w[first + pick]; ++pick) left -= w[first + pick];
            } else {
                for (std::int64_t j = 1; j < n; ++j)
                    if (w[first + j] > w[first + pick]) pick = j;
            }
            for_keys(view, group, i, 0, [&](std::int64_t at, std::int64_t row, std::int64_t) {
                if (at == pick) choice->key[static_cast<std::size_t>(h * nq + i)] = row;
            });
            const std::int64_t from = choice->key[static_cast<std::size_t>(h * nq + i)];
            std::copy_n(v.data() + from * v.cols() + h * dv, dv, out + i * v.cols() + h * dv);
        });
    }
    report_to_probe(plan);

    return record(y, plan->inputs(), [plan, choice](const Tensor& dy, Gradients& d) {
        if (d.wants(plan->v)) give_to_chosen(*plan, choice->key, dy, d.into(plan->v));
        plan->scores_backward([&](int head) { return score_gradients(*plan, head, dy); }, d);
    });
}

}  // namespace fovea
