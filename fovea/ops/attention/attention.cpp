#include "fovea/ops/attention/attention.h"

#include "fovea/autograd/tape.h"
#include "fovea/ops/attention/attention_plan.h"
#include "fovea/ops/attention/probe.h"

namespace fovea {

//   s = score(q, k)    p = softmax(s) over the visible keys    m = dropout mask / (1 − p_drop)
//   y = (p ∘ m) v      q [nq, H·dk]  k [nk, H·dk]  v [nk, H·dv]  y [nq, H·dv], each head by itself
//   dv = (p ∘ m)ᵀ dy   dp = m ∘ (dy vᵀ)    ds = p ∘ (dp − Σ dy∘y)
//   and for s = scale q kᵀ:   dq = scale ds k    dk = scale dsᵀ q
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads,
                 const Visibility& sees, const AttentionOptions& options) {
    expect(!v.empty(), "attention: v is an empty tensor");
    const auto plan = std::make_shared<const AttentionPlan>(
        "attention", AttentionOperands{q, k, v, heads}, sees, options);

    Tensor y({q.rows(), v.cols()}), lse({heads, q.rows()});
    plan->forward(y, lse);
    report_to_probe(plan);

    return record(y, plan->inputs(), [plan, y, lse](const Tensor& dy, Gradients& d) {
        plan->backward(y, lse, dy, d);
    });
}

}  // namespace fovea
