#include "fovea/ops/attention/attention_plan.h"

#include <algorithm>
#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

kernels::Positions view_of(const RowPositions& p) {
    return {p.q.empty() ? nullptr : p.q.data(), p.k.empty() ? nullptr : p.k.data()};
}

kernels::GradientView wanted(Gradients& d, const Tensor& x) {
    if (!d.wants(x)) return {};
    const Into into = d.into(x);
    return {into.view, into.add};
}

}  // namespace

AttentionPlan::AttentionPlan(const char* where, const Tensor& q_, const Tensor& k_,
                             const Tensor& v_, int heads_, const Visibility& sees,
                             const AttentionOptions& o)
    : q(q_), k(k_), v(v_), heads(heads_), options(o) {
    check_shapes(where);
    for (int h = 0; h < heads; ++h) {
        const Visibility& own = o.per_head.empty() ? sees : o.per_head[static_cast<std::size_t>(h)];
        if (!runs_.empty() && runs_.back().sees.same_handle(own)) {
            runs_.back().end = h + 1;
            continue;
        }
        expect(own.queries() == q.rows(), where, ": q is ", q.shape(), " but the visibility has ",
               own.queries(), " query rows");
        expect(own.keys() == k.rows(), where, ": k is ", k.shape(), " but the visibility has ",
               own.keys(), " key rows");
        runs_.push_back({h, h + 1, own});
    }
    scale_ = o.scale ? *o.scale : 1.0f / std::sqrt(static_cast<float>(q.cols() / heads));
    expect(scale_ > 0, where, ": scale is ", scale_, " but must be positive");
    check_score(where);
    precision_ = current_precision();
    if (Tape* tape = current_tape(); tape && tape->has_dropout() && o.dropout > 0) {
        name_rows();
        dropout_ = {.p = o.dropout,
                    .key = tape->dropout_key() ^
                           (std::uint64_t{tape->next_dropout_site()} * 0xD1B54A32D192ED03u),
                    .samples = samples_.data(),
                    .positions = positions_.data()};
    }
}

void AttentionPlan::check_shapes(const char* where) const {
    expect(heads > 0, where, ": ", heads, " heads");
    expect_f32(where, "q", q);
    expect_f32(where, "k", k);
    expect(q.cols() == k.cols(), where, ": q is ", q.shape(), " but k is ", k.shape());
    expect(q.cols() > 0 && q.cols() % heads == 0, where, ": q is ", q.shape(),
           " but its columns must split into ", heads, " heads");
    if (!v.empty()) {
        expect_f32(where, "v", v);
        expect(k.rows() == v.rows(), where, ": k is ", k.shape(), " but v is ", v.shape());
        expect(v.cols() > 0 && v.cols() % heads == 0, where, ": v is ", v.shape(),
               " but its columns must split into ", heads, " heads");
    }
    expect(options.dropout >= 0 && options.dropout < 1, where, ": dropout is ", options.dropout,
           " but must be at least 0 and below 1");
    expect(options.per_head.empty() || static_cast<int>(options.per_head.size()) == heads, where,
           ": ", options.per_head.size(), " visibilities for ", heads, " heads");
}

void AttentionPlan::check_score(const char* where) {
    const auto expect_width = [&](const char* name, const Tensor& x) {
        expect_f32(where, name, x);
        expect(x.size() == q.cols(), where, ": ", name, " is ", x.shape(), " but q is ", q.shape());
        parameters_.push_back(x);
    };
    if (const auto* s = std::get_if<RelativeDot>(&options.score)) {
        expect_width("u", s->u);
        expect_width("v of the score", s->v);
        expect_f32(where, "r", s->r);
        expect(s->r.cols() == q.cols(), where, ": r is ", s->r.shape(), " but q is ", q.shape());
        parameters_.push_back(s->r);
        const Distances seen = distances(where, s->positions);
        expect(seen.lowest > seen.highest ||
                   (seen.lowest >= s->first && seen.highest < s->first + s->r.rows()),
               where, ": r has rows for distances ", s->first, " to ", s->first + s->r.rows() - 1,
               " but rows see keys at distances ", seen.lowest, " to ", seen.highest);
        first_ = s->first;
    } else if (const auto* b = std::get_if<BiasedDot>(&options.score)) {
        expect_f32(where, "the bias table", b->table);
        expect(b->table.cols() == heads, where, ": the bias table is ", b->table.shape(), " for ",
               heads, " heads");
        expect(b->entry != nullptr, where, ": BiasedDot has no entry function");
        parameters_.push_back(b->table);
        const Distances seen = distances(where, b->positions);
        first_ = seen.lowest;
        const std::int64_t n = std::max<std::int64_t>(1, seen.highest - seen.lowest + 1);
        bias_ = Tensor({heads, n});
        float* to = bias_.write();
        for (std::int64_t t = 0; t < n; ++t) {
            const BiasedDot::Entry e = b->entry(first_ + t);
            expect(e.row >= 0 && e.row < b->table.rows(), where, ": the bias table is ",
                   b->table.shape(), " but distance ", first_ + t, " asks for row ", e.row);
            for (int h = 0; h < heads; ++h) to[h * n + t] = e.factor * b->table.at(e.row, h);
        }
    } else if (const auto* a = std::get_if<Additive>(&options.score)) {
        expect_width("w of the score", a->w);
    } else if (const auto* g = std::get_if<Gaussian>(&options.score)) {
        expect_f32(where, "centres", g->centres);
        expect(g->centres.rows() == q.rows() && g->centres.cols() == heads, where, ": centres are ",
               g->centres.shape(), " but must be [", q.rows(), ", ", heads, "]");
        expect(g->sigma > 0, where, ": sigma is ", g->sigma, " but must be positive");
        parameters_.push_back(g->centres);
    }
}

AttentionPlan::Distances AttentionPlan::distances(const char* where,
                                                  const RowPositions& positions) const {
    expect(positions.q.empty() == positions.k.empty(), where,
           ": positions of queries and of keys must be given together");
    expect(positions.q.empty() || (static_cast<std::int64_t>(positions.q.size()) == q.rows() &&
                                   static_cast<std::int64_t>(positions.k.size()) == k.rows()),
           where, ": positions for ", positions.q.size(), " and ", positions.k.size(),
           " rows but q has ", q.rows(), " and k has ", k.rows());
    Distances all;
    const auto include = [&](std::int64_t lowest, std::int64_t highest) {
        if (all.lowest > all.highest) all = {lowest, highest};
        all.lowest = std::min(all.lowest, lowest);
        all.highest = std::max(all.highest, highest);
    };
    for (const HeadRun& run : runs_) {
        const VisibilityView sees = run.sees.view();
        for (const VisibleGroup& g : sees.groups) {
            if (positions.q.empty()) {
                for (std::int64_t i = g.q_begin; i < g.q_end; ++i) {
                    const auto row = sees.of_row(i);
                    const std::int64_t at = g.position + i - g.q_begin;
                    if (!row.empty()) include(at - row.back().end + 1, at - row.front().begin);
                }
                continue;
            }
            if (g.q_begin == g.q_end || g.keys == 0) continue;
            const auto [q_min, q_max] =
                std::minmax_element(positions.q.begin() + g.q_begin, positions.q.begin() + g.q_end);
            for (const KeyRun& r : sees.runs_of(g)) {
                const auto [k_min, k_max] = std::minmax_element(
                    positions.k.begin() + r.row, positions.k.begin() + r.row + r.count);
                include(std::int64_t{*q_min} - *k_max, std::int64_t{*q_max} - *k_min);
            }
        }
    }
    return all;
}

void AttentionPlan::name_rows() {
    const VisibilityView sees = runs_.front().sees.view();
    samples_.resize(static_cast<std::size_t>(sees.queries));
    positions_.resize(static_cast<std::size_t>(sees.queries));
    const auto name = [&](std::int64_t row, std::uint64_t sample, std::int64_t position) {
        samples_[static_cast<std::size_t>(row)] = sample;
        positions_[static_cast<std::size_t>(row)] = static_cast<std::uint32_t>(position);
    };
    if (q.row_names() && q.row_names()->total() == sees.queries) {
        const Segments& s = *q.row_names();
        for (std::int64_t g = 0; g < s.count(); ++g)
            for (std::int64_t i = s.begin(g); i < s.end(g); ++i)
                name(i, s.sample(g), i - s.begin(g));
        return;
    }
    for (const VisibleGroup& g : sees.groups)
        for (std::int64_t i = g.q_begin; i < g.q_end; ++i)
            name(i, g.sample, g.position + i - g.q_begin);
}

kernels::AttentionCall AttentionPlan::call(const HeadRun& run) const {
    return {.q = q,
            .k = k,
            .v = v.empty() ? ConstView() : ConstView(v),
            .heads = heads,
            .head_begin = run.begin,
            .head_end = run.end,
            .sees = run.sees.view(),
            .scale = scale_,
            .dropout = dropout_,
            .precision = precision_};
}

template <class Run>
void AttentionPlan::with_score(Run&& run) const {
    if (const auto* s = std::get_if<RelativeDot>(&options.score)) {
        const std::int64_t n = q.cols();
        run(kernels::RelativeDot{.u = {s->u.data(), 1, n},
                                 .v = {s->v.data(), 1, n},
                                 .r = s->r,
                                 .first = first_,
                                 .positions = view_of(s->positions)});
    } else if (const auto* b = std::get_if<BiasedDot>(&options.score)) {
        run(kernels::BiasedDot{.bias = bias_, .first = first_, .positions = view_of(b->positions)});
    } else if (const auto* a = std::get_if<Additive>(&options.score)) {
        run(kernels::Additive{.w = {a->w.data(), 1, q.cols()}});
    } else if (const auto* g = std::get_if<Gaussian>(&options.score)) {
        run(kernels::Gaussian{.centres = g->centres, .sigma = g->sigma, .dcentres = {}});
    } else {
        run(kernels::ScaledDot{});
    }
}

void AttentionPlan::forward(Tensor& y, Tensor& lse) const {
    with_score([&](const auto& score) {
        for (const HeadRun& run : runs_)
            kernels::attention_forward(call(run), score, y.view(), lse.view());
    });
}

void AttentionPlan::backward(const Tensor& y, const Tensor& lse, const Tensor& dy,
                             Gradients& d) const {
    const kernels::AttentionGradients to{wanted(d, q), wanted(d, k), wanted(d, v)};
    bool parameters = false;
    for (const Tensor& p : parameters_) parameters = parameters || d.wants(p);
    with_score([&](auto score) {
        Tensor dparameters;
        if constexpr (requires { score.dparameters; }) {
            if (parameters) {
                dparameters = Tensor::zeros({heads, score.parameters(call(runs_.front()))});
                score.dparameters = dparameters.write();
            }
        } else if constexpr (requires { score.dcentres; }) {
            if (parameters) score.dcentres = wanted(d, parameters_.front());
        }
        for (const HeadRun& run : runs_)
            kernels::attention_backward(call(run), score, y, lse, dy, to);
        if (!dparameters.empty()) scatter_gradients(dparameters, d);
    });
}

void AttentionPlan::scores(int head, float* values) const {
    const Segments rows = of_head(head).visible_counts();
    with_score([&](const auto& score) {
        for (const HeadRun& run : runs_) {
            if (head < run.begin || head >= run.end) continue;
            kernels::AttentionCall one = call({head, head + 1, run.sees});
            one.v = {};
            if constexpr (requires { score.dcentres; })
                kernels::attention_scores(one, kernels::ScaledDot{}, rows.offsets().data(), values);
            else
                kernels::attention_scores(one, score, rows.offsets().data(), values);
        }
    });
}

void AttentionPlan::scores_backward(int head, const float* dvalues, Gradients& d) const {
    const Segments rows = of_head(head).visible_counts();
    kernels::AttentionGradients to{wanted(d, q), wanted(d, k), {}};
    bool parameters = false;
    for (const Tensor& p : parameters_) parameters = parameters || d.wants(p);
    with_score([&](auto score) {
        Tensor dparameters;
        if constexpr (requires { score.dparameters; }) {
            if (parameters) {
                dparameters = Tensor::zeros({heads, score.parameters(call(runs_.front()))});
                score.dparameters = dparameters.write();
            }
        }
        for (const HeadRun& run : runs_) {
            if (head < run.begin || head >= run.end) continue;
            kernels::AttentionCall one = call({head, head + 1, run.sees});
            one.v = {};
            if constexpr (requires { score.dcentres; })
                kernels::attention_scores_backward(one, kernels::ScaledDot{}, rows.offsets().data(),
                                                   dvalues, to);
            else
                kernels::attention_scores_backward(one, score, rows.offsets().data(), dvalues, to);
        }
        if (!dparameters.empty()) scatter_gradients(dparameters, d);
    });
}

void AttentionPlan::scatter_gradients(const Tensor& dparameters, Gradients& d) const {
    const std::int64_t dk = q.cols() / heads, size = dparameters.cols();
    const float* from = dparameters.data();
    // into[row · heads·dk + h·dk + e] (+)= from[h · size + (first + row) · dk + e]
    const auto give = [&](const Tensor& x, std::int64_t first, std::int64_t rows) {
        if (!d.wants(x)) return;
        const Into into = d.into(x);
        for (std::int64_t t = 0; t < rows; ++t)
            for (int h = 0; h < heads; ++h)
                for (std::int64_t e = 0; e < dk; ++e) {
                    float& to = into.view.data[(t * heads + h) * dk + e];
                    to = (into.add ? to : 0.0f) + from[h * size + (first + t) * dk + e];
                }
    };
    if (std::holds_alternative<RelativeDot>(options.score)) {
        give(parameters_[0], 0, 1);
        give(parameters_[1], 1, 1);
        give(parameters_[2], 2, parameters_[2].rows());
    } else if (std::holds_alternative<Additive>(options.score)) {
        give(parameters_[0], 0, 1);
    } else if (const auto* b = std::get_if<BiasedDot>(&options.score)) {
        if (!d.wants(b->table)) return;
        const Into into = d.into(b->table);
        if (!into.add) std::fill_n(into.view.data, b->table.size(), 0.0f);
        for (std::int64_t t = 0; t < size; ++t) {
            const BiasedDot::Entry e = b->entry(first_ + t);
            for (int h = 0; h < heads; ++h)
                into.view.data[e.row * heads + h] += e.factor * from[h * size + t];
        }
    }
}

const Visibility& AttentionPlan::of_head(int head) const {
    for (const HeadRun& run : runs_)
        if (head < run.end) return run.sees;
    return runs_.back().sees;
}

float AttentionPlan::factor(int head, std::int64_t row, std::int64_t index) const {
    const auto* g = std::get_if<Gaussian>(&options.score);
    if (!g) return 1.0f;
    const double x = (static_cast<double>(index) - g->centres.at(row, head)) / g->sigma;
    return static_cast<float>(std::exp(-0.5 * x * x));
}

}  // namespace fovea
