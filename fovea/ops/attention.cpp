#include "fovea/ops/attention.h"

#include <cmath>
#include <memory>

#include "fovea/autograd/tape.h"
#include "fovea/kernels/attention.h"

namespace fovea {
namespace {

// What the kernel needs beyond the tensors; kept alive for backward.
struct Plan {
    std::vector<Visibility> sees;        // one a run of heads
    std::vector<int> head_ends;          // where each run ends
    std::vector<std::uint64_t> samples;  // row names, for dropout
    std::vector<std::uint32_t> positions;
    kernels::AttentionCall call;
};

void name_rows(const Tensor& q, const VisibilityView& sees, Plan& plan) {
    plan.samples.resize(static_cast<std::size_t>(sees.queries));
    plan.positions.resize(static_cast<std::size_t>(sees.queries));
    const auto name = [&](std::int64_t row, std::uint64_t sample, std::int64_t position) {
        plan.samples[static_cast<std::size_t>(row)] = sample;
        plan.positions[static_cast<std::size_t>(row)] = static_cast<std::uint32_t>(position);
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

void expect_fits(const Visibility& sees, const Tensor& q, const Tensor& k) {
    expect(sees.queries() == q.rows(), "attention: q is ", q.shape(), " but the visibility has ",
           sees.queries(), " query rows");
    expect(sees.keys() == k.rows(), "attention: k is ", k.shape(), " but the visibility has ",
           sees.keys(), " key rows");
}

std::shared_ptr<Plan> make_plan(const Tensor& q, const Tensor& k, const Tensor& v, int heads,
                                const Visibility& sees, const AttentionOptions& o) {
    auto plan = std::make_shared<Plan>();
    for (int h = 0; h < heads; ++h) {
        const Visibility& own = o.per_head.empty() ? sees : o.per_head[static_cast<std::size_t>(h)];
        if (!plan->sees.empty() && plan->sees.back().same_handle(own)) {
            plan->head_ends.back() = h + 1;
            continue;
        }
        expect_fits(own, q, k);
        plan->sees.push_back(own);
        plan->head_ends.push_back(h + 1);
    }
    kernels::AttentionCall& c = plan->call;
    c.q = q;
    c.k = k;
    c.v = v;
    c.heads = heads;
    c.scale = o.scale ? *o.scale : 1.0f / std::sqrt(static_cast<float>(q.cols() / heads));
    c.precision = compute_precision();
    if (Tape* tape = current_tape(); tape && tape->has_dropout() && o.dropout > 0) {
        name_rows(q, plan->sees.front().view(), *plan);
        c.dropout = {.p = o.dropout,
                     .key = tape->dropout_key() ^
                            (std::uint64_t{tape->next_dropout_site()} * 0xD1B54A32D192ED03u),
                     .samples = plan->samples.data(),
                     .positions = plan->positions.data()};
    }
    return plan;
}

// run(call) for each run of heads that share a visibility.
template <class Run>
void for_head_runs(const Plan& plan, Run&& run) {
    kernels::AttentionCall call = plan.call;
    int begin = 0;
    for (std::size_t i = 0; i < plan.sees.size(); ++i) {
        call.head_begin = begin;
        call.head_end = begin = plan.head_ends[i];
        call.sees = plan.sees[i].view();
        run(call);
    }
}

kernels::GradientView wanted(Gradients& d, const Tensor& x) {
    if (!d.wants(x)) return {};
    const Into into = d.into(x);
    return {into.view, into.add};
}

}  // namespace

//   s = scale q kᵀ    p = softmax(s) over the visible keys    m = dropout mask / (1 − p_drop)
//   y = (p ∘ m) v     q [nq, H·dk]  k [nk, H·dk]  v [nk, H·dv]  y [nq, H·dv], each head by itself
//   dv = (p ∘ m)ᵀ dy    dp = m ∘ (dy vᵀ)    ds = p ∘ (dp − Σ dy∘y)
//   dq = scale ds k     dk = scale dsᵀ q
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads,
                 const Visibility& sees, const AttentionOptions& o) {
    expect(heads > 0, "attention: ", heads, " heads");
    expect(!q.empty() && !k.empty() && !v.empty(), "attention: q, k or v is an empty tensor");
    expect(q.cols() == k.cols(), "attention: q is ", q.shape(), " but k is ", k.shape());
    expect(k.rows() == v.rows(), "attention: k is ", k.shape(), " but v is ", v.shape());
    expect(q.cols() % heads == 0 && q.cols() > 0, "attention: q is ", q.shape(),
           " which does not split into ", heads, " heads");
    expect(v.cols() % heads == 0 && v.cols() > 0, "attention: v is ", v.shape(),
           " which does not split into ", heads, " heads");
    expect(o.dropout >= 0 && o.dropout < 1, "attention: dropout is ", o.dropout,
           " but must be at least 0 and below 1");
    expect(o.per_head.empty() || static_cast<int>(o.per_head.size()) == heads,
           "attention: ", o.per_head.size(), " visibilities for ", heads, " heads");
    const auto plan = make_plan(q, k, v, heads, sees, o);

    Tensor y({q.rows(), v.cols()}), lse({heads, q.rows()});
    for_head_runs(*plan, [&](const kernels::AttentionCall& call) {
        kernels::attention_forward(call, kernels::ScaledDot{}, y.view(), lse.view());
    });

    return record(y, {q, k, v}, [q, k, v, y, lse, plan](const Tensor& dy, Gradients& d) {
        const kernels::AttentionGradients to{wanted(d, q), wanted(d, k), wanted(d, v)};
        for_head_runs(*plan, [&](const kernels::AttentionCall& call) {
            kernels::attention_backward(call, kernels::ScaledDot{}, y, lse, dy, to);
        });
    });
}

}  // namespace fovea
