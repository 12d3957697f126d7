#include "fovea/ops/attention/attention_plan.h"

#include <algorithm>
#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/dropout_plan.h"

namespace fovea {
namespace {

kernels::GradientView wanted(Gradients& d, const Tensor& x) {
    if (x.empty() || !d.wants(x)) return {};
    const Into into = d.into(x);
    return {into.view, into.add};
}

}  // namespace

AttentionPlan::AttentionPlan(const char* where, const AttentionOperands& operands,
                             const Visibility& sees, const AttentionOptions& o)
    : q(operands.q), k(operands.k), v(operands.v), heads(operands.heads), options(o) {
    check_shapes(where);
    find_head_runs(where, sees);
    const std::int64_t dk = q.cols() / heads;
    scale_ = o.scale ? *o.scale : 1.0f / std::sqrt(static_cast<float>(dk));
    expect(scale_ > 0, where, ": scale is ", scale_, " but must be positive");
    std::vector<Visibility> different;
    for (const HeadRun& run : runs_) different.push_back(run.sees);
    const ScoreCall asked{.where = where, .q = q, .k = k, .heads = heads, .sees = different};
    score_ = std::visit([&](const auto& score) { return score.bind(asked); }, options.score);
    precision_ = current_precision();
    if (Tape* tape = current_tape(); tape && tape->has_dropout() && o.dropout > 0) {
        named_.emplace(where, q);
        dropout_ = {.p = o.dropout,
                    .key = tape->dropout_key() ^
                           (std::uint64_t{tape->next_dropout_site()} * 0xD1B54A32D192ED03u),
                    .samples = named_->samples.data(),
                    .positions = named_->positions.data()};
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

void AttentionPlan::find_head_runs(const char* where, const Visibility& sees) {
    for (int h = 0; h < heads; ++h) {
        const Visibility& own =
            options.per_head.empty() ? sees : options.per_head[static_cast<std::size_t>(h)];
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
}

RowsOfSamples::RowsOfSamples(const char* where, const Tensor& q) {
    if (!q.row_names() || q.row_names()->total() != q.rows()) fail_without_names(where, "q", q);
    const Segments& names = *q.row_names();
    for (std::int64_t g = 0; g < names.count(); ++g)
        for (std::int64_t i = 0; i < names.length(g); ++i) {
            samples.push_back(names.sample(g));
            positions.push_back(static_cast<std::uint32_t>(i));
        }
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
void AttentionPlan::with_gradients(Gradients& d, const Tensor& values, Run&& run) const {
    kernels::AttentionGradients to{.dq = wanted(d, q), .dk = wanted(d, k), .dv = wanted(d, values)};
    Tensor dparameters;
    if (score_->wanted_by(d)) {
        if (const std::int64_t n = score_->kernel().parameters(q.cols() / heads); n > 0) {
            dparameters = Tensor::zeros({heads, n});
            to.dparameters = dparameters.write();
        }
        to.drows = score_->row_gradient(d);
    }
    run(to);
    if (!dparameters.empty()) score_->scatter_gradients(dparameters, d);
    for (const Tensor& p : score_->parameters())
        expect(!d.wants(p) || d.has(p),
               "attention: a score has lost the gradient of its parameter ", p.shape());
}

template <class Run>
void AttentionPlan::with_head(int head, Run&& run) const {
    kernels::AttentionCall one = call({head, head + 1, of_head(head)});
    one.v = {};
    run(one, of_head(head).visible_counts().offsets().data());
}

void AttentionPlan::forward(Tensor& y, Tensor& lse) const {
    for (const HeadRun& run : runs_)
        kernels::attention_forward(call(run), score_->kernel(), y.view(), lse.view());
}

void AttentionPlan::backward(const Tensor& y, const Tensor& lse, const Tensor& dy,
                             Gradients& d) const {
    with_gradients(d, v, [&](const kernels::AttentionGradients& to) {
        for (const HeadRun& run : runs_)
            kernels::attention_backward(call(run), score_->kernel(), {y, lse, dy}, to);
    });
}

void AttentionPlan::scores(int head, float* values) const {
    with_head(head, [&](const kernels::AttentionCall& one, const std::int64_t* offsets) {
        kernels::attention_scores(one, score_->kernel(), offsets, values);
    });
}

void AttentionPlan::scores_backward(const std::function<Tensor(int head)>& dvalues,
                                    Gradients& d) const {
    with_gradients(d, {}, [&](const kernels::AttentionGradients& to) {
        for (int head = 0; head < heads; ++head)
            with_head(head, [&](const kernels::AttentionCall& one, const std::int64_t* offsets) {
                const Tensor given = dvalues(head);
                kernels::attention_scores_backward(one, score_->kernel(), offsets, given.data(),
                                                   to);
            });
    });
}

std::vector<Tensor> AttentionPlan::inputs() const {
    std::vector<Tensor> all{q, k};
    if (!v.empty()) all.push_back(v);
    all.insert(all.end(), score_->parameters().begin(), score_->parameters().end());
    return all;
}

const Visibility& AttentionPlan::of_head(int head) const {
    for (const HeadRun& run : runs_)
        if (head < run.end) return run.sees;
    return runs_.back().sees;
}

}  // namespace fovea
