#include "fovea/ops/linear.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/activation.h"
#include "fovea/kernels/gemm/gemm.h"
#include "fovea/kernels/rows/sum_rows.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/packed_weight.h"

namespace fovea {
namespace {

Shape with_cols(const Shape& shape, std::int64_t cols) {
    Shape s;
    for (int i = 0; i + 1 < shape.rank(); ++i) s.push(shape[i]);
    s.push(cols);
    return s;
}

}  // namespace

//   z  = x Wᵀ + b   y = act(z)                 x [n, in]   W [out, in]   b [out]   y [n, out]
//   dz = dy ∘ act'(z)
//   dx = dz W       dW = dzᵀ x    db = Σₙ dz
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Act act) {
    expect_f32("linear", "x", x);
    expect(!w.empty(), "linear: W is an empty tensor");
    expect(w.shape().rank() == 2 && x.cols() == w.cols(), "linear: x is ", x.shape(), " but W is ",
           w.shape());
    expect(w.cols() > 0 && w.rows() > 0, "linear: W is ", w.shape(), ", which holds nothing");
    expect(b.empty() || b.size() == w.rows(), "linear: b is ", b.shape(), " but W is ", w.shape());
    expect(b.empty() || b.format() == Format::f32, "linear: b is stored as ", name_of(b.format()),
           " but must be f32");
    const bool tracked = is_tracked(x) || is_tracked(w) || (!b.empty() && is_tracked(b));
    if (tracked && w.format() != Format::f32)
        fail_with(ErrorKind::failed, "train with the f32 weights and convert them afterwards",
                  "linear: W ", w.shape(), " is stored as ", name_of(w.format()),
                  ", which is for inference, but a tape records this call");

    Tensor y(with_cols(x.shape(), w.rows()));
    // In backward: relu and tanh find their derivative from y, the others from z.
    const bool keep_z = tracked && kernels::needs_input(act);
    Tensor saved = keep_z ? Tensor(y.shape()) : y;
    kernels::gemm_packed(x, *packed_weight(w, Trans::yes), y.view(),
                         {.bias = b.empty() ? ConstView() : ConstView(b),
                          .act = act,
                          .pre = keep_z ? saved.view() : View()});

    if (act == Act::none) saved = Tensor();  // the output need not stay alive
    return record(y, {x, w, b}, [x, w, b, saved, act](const Tensor& dy, Gradients& d) {
        Tensor dz = dy;
        if (act != Act::none) {
            dz = Tensor(dy.shape());
            kernels::activate_backward(act, dy.data(), saved.data(), dz.write(), dy.size());
        }
        if (d.wants(x)) {
            const Into dx = d.into(x);
            kernels::gemm_packed(dz, *packed_weight(w, Trans::no), dx.view, {.accumulate = dx.add});
        }
        if (d.wants(w)) {
            const Into dw = d.into(w);
            kernels::gemm(Trans::yes, Trans::no, dz, x, dw.view,
                          {.accumulate = dw.add, .precision = current_precision()});
        }
        if (d.wants(b)) {
            const Into db = d.into(b);
            kernels::sum_rows(dz, db.view, db.add);
        }
    });
}

//   c = a' b'     a' = a or aᵀ [m, k]   b' = b or bᵀ [k, n]   c [m, n]
//   da' = dc b'ᵀ    db' = a'ᵀ dc
Tensor matmul(const Tensor& a, const Tensor& b, Trans ta, Trans tb) {
    expect_f32("matmul", "a", a);
    expect_f32("matmul", "b", b);
    const bool at = ta == Trans::yes, bt = tb == Trans::yes;
    const std::int64_t m = at ? a.cols() : a.rows(), k = at ? a.rows() : a.cols();
    const std::int64_t n = bt ? b.rows() : b.cols();
    expect((bt ? b.cols() : b.rows()) == k, "matmul: a is ", a.shape(), at ? " transposed" : "",
           " but b is ", b.shape(), bt ? " transposed" : "");
    expect(k > 0, "matmul: a is ", a.shape(), ", which has nothing to sum over");

    Tensor c({m, n});
    kernels::gemm(ta, tb, a, b, c.view(), {.precision = current_precision()});

    return record(c, {a, b}, [a, b, at, bt](const Tensor& dc, Gradients& d) {
        const auto product = [](Trans tp, Trans tq, const Tensor& p, const Tensor& q, Into to) {
            kernels::gemm(tp, tq, p, q, to.view,
                          {.accumulate = to.add, .precision = current_precision()});
        };
        const auto yes_if = [](bool t) { return t ? Trans::yes : Trans::no; };
        if (d.wants(a)) {  // aᵀ was used: da = b' dcᵀ
            if (at)
                product(yes_if(bt), Trans::yes, b, dc, d.into(a));
            else
                product(Trans::no, yes_if(!bt), dc, b, d.into(a));
        }
        if (d.wants(b)) {  // bᵀ was used: db = dcᵀ a'
            if (bt)
                product(Trans::yes, yes_if(at), dc, a, d.into(b));
            else
                product(yes_if(!at), Trans::no, a, dc, d.into(b));
        }
    });
}

}  // namespace fovea
