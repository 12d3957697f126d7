#include "fovea/ops/dropout.h"

#include "fovea/autograd/tape.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout_plan.h"

namespace fovea {

kernels::DropoutMask DropoutPlan::mask() const {
    return kernels::dropout_mask(key, site, p, names.offsets(), names.samples());
}

void fail_without_names(const char* op, const char* x, const Tensor& of) {
    fail_with(
        ErrorKind::failed,
        "call set_row_names(segments) on the first tensor made of the batch (ops hand the names "
        "on), or take positions from ops/rows/positions.h, which bring them",
        op, ": the rows of ", x, " ", of.shape(),
        " have no names, but what is drawn for a row must go with its sample, not with its place "
        "in the batch");
}

std::optional<DropoutPlan> plan_dropout(const char* op, const Tensor& x, float p,
                                        const Tensor* other) {
    expect(p >= 0 && p < 1, op, ": dropout is ", p, " but must be in [0, 1)");
    Tape* tape = current_tape();
    if (!tape || !tape->has_dropout() || p == 0 || x.size() == 0) return std::nullopt;
    const auto fits = [&](const Tensor& t) {
        return t.row_names() && t.row_names()->total() > 0 &&
               x.size() % t.row_names()->total() == 0;
    };
    if (!fits(x) && !(other && fits(*other))) fail_without_names(op, "x", x);
    const Segments& names = fits(x) ? *x.row_names() : *other->row_names();
    // A reshaped tensor has the names of its first shape: a named row is then several rows here.
    return DropoutPlan{.names = names,
                       .rows = names.total(),
                       .cols = x.size() / names.total(),
                       .p = p,
                       .key = tape->dropout_key(),
                       .site = tape->next_dropout_site()};
}

//   y = m ∘ x / (1 − p)    dx = m ∘ dy / (1 − p)      m computed again in backward, never stored
Tensor dropout(const Tensor& x, float p) {
    expect_f32("dropout", "x", x);
    const std::optional<DropoutPlan> plan = plan_dropout("dropout", x, p);
    if (!plan) return x;

    Tensor y(x.shape());
    kernels::dropout({x.data(), plan->rows, plan->cols}, plan->mask(),
                     {y.write(), plan->rows, plan->cols});

    return record(y, {x}, [x = GradTarget(x), plan = *plan](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::dropout({dy.data(), plan.rows, plan.cols}, plan.mask(),
                         {dx.view.data, plan.rows, plan.cols}, dx.add ? dx.view.data : nullptr);
    });
}

//   y = x + m ∘ b / (1 − p)    dx = dy    db = m ∘ dy / (1 − p)
Tensor add_dropout(const Tensor& x, const Tensor& branch, float p) {
    expect_f32("add_dropout", "x", x);
    expect_f32("add_dropout", "branch", branch);
    expect(x.shape() == branch.shape(), "add_dropout: x is ", x.shape(), " but branch is ",
           branch.shape());
    const std::optional<DropoutPlan> plan = plan_dropout("add_dropout", branch, p, &x);
    if (!plan) return x + branch;

    Tensor y(x.shape());
    kernels::dropout({branch.data(), plan->rows, plan->cols}, plan->mask(),
                     {y.write(), plan->rows, plan->cols}, x.data());

    return record(y, {x, branch},
                  [x = GradTarget(x), branch = GradTarget(branch), plan = *plan](const Tensor& dy,
                                                                                 Gradients& d) {
                      if (d.wants(x)) d.add(x, dy);
                      if (!d.wants(branch)) return;
                      const Into db = d.into(branch);
                      kernels::dropout({dy.data(), plan.rows, plan.cols}, plan.mask(),
                                       {db.view.data, plan.rows, plan.cols},
                                       db.add ? db.view.data : nullptr);
                  });
}

}  // namespace fovea
