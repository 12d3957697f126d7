#include "fovea/autograd/tape.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/attention/attention_plan.h"
#include "fovea/ops/attention/probe.h"

namespace fovea {

//   y[i, j] = score(q_i, k_j) for the keys j that row i sees, row after row    y [visible pairs]
//   for s = scale q kᵀ:   dq = scale dy k    dk = scale dyᵀ q
Ragged pointer_scores(const Tensor& q, const Tensor& k, const Visibility& sees,
                      const AttentionOptions& options) {
    const auto plan = std::make_shared<const AttentionPlan>(
        "pointer_scores", AttentionOperands{q, k, {}, 1}, sees, options);
    expect(!plan->score().has_factor(),
           "pointer_scores: a Gaussian multiplies weights after the softmax "
           "and has no scores of its own");
    const Segments rows = plan->of_head(0).visible_counts();

    Tensor y({rows.total()});
    plan->scores(0, y.write());
    report_to_probe(plan);

    y = record(y, plan->inputs(), [plan](const Tensor& dy, Gradients& d) {
        plan->scores_backward([&](int) { return dy; }, d);
    });
    return {y, rows};
}

}  // namespace fovea
