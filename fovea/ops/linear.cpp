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

// Is a tape recording this layer? Refuses what does not fit together or cannot be trained.
bool check_layer(const char* op, const Shape& x, const LayerWeights& layer, bool x_is_tracked) {
    const auto& [w, b] = layer;
    expect(!w.empty(), op, ": W is an empty tensor");
    expect(w.shape().rank() == 2 && x.rank() > 0 && x[x.rank() - 1] == w.cols(), op, ": x is ", x,
           " but W is ", w.shape());
    expect(w.cols() > 0 && w.rows() > 0, op, ": W is ", w.shape(), ", which holds nothing");
    expect(b.empty() || b.size() == w.rows(), op, ": b is ", b.shape(), " but W is ", w.shape());
    expect(b.empty() || b.format() == Format::f32, op, ": b is stored as ", name_of(b.format()),
           " but must be f32");
    const bool tracked = x_is_tracked || is_tracked(w) || (!b.empty() && is_tracked(b));
    if (tracked && w.format() != Format::f32)
        fail_with(ErrorKind::failed, "train with the f32 weights and convert them afterwards", op,
                  ": W ", w.shape(), " is stored as ", name_of(w.format()),
                  ", which is for inference, but a tape records this call");
    return tracked;
}

ConstView bias_of(const LayerWeights& layer) {
    return layer.b.empty() ? ConstView() : ConstView(layer.b);
}

// dW = dzᵀ x    db = Σₙ dz
void weight_gradients(const LayerWeights& layer, const Tensor& x, const Tensor& dz, Gradients& d) {
    const auto& [w, b] = layer;
    if (d.wants(w)) {
        const Into dw = d.into(w);
        kernels::gemm(Trans::yes, Trans::no, dz, x, dw.view,
                      {.accumulate = dw.add, .precision = current_precision()});
    }
    if (d.wants(b)) {
        const Into db = d.into(b);
        kernels::sum_rows(dz, db.view, db.add);
    }
}

// dx = dz W, or dx += …
void input_gradient(const Tensor& w, const Tensor& dz, Into dx) {
    multiply_by_weight(dz, w, Trans::no, dx.view, true, {.accumulate = dx.add});
}

}  // namespace

//   z  = x Wᵀ + b   y = act(z)                 x [n, in]   W [out, in]   b [out]   y [n, out]
//   dz = dy ∘ act'(z)
//   dx = dz W       dW = dzᵀ x    db = Σₙ dz
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b, Act act) {
    expect_f32("linear", "x", x);
    const LayerWeights layer{w, b};
    const bool tracked = check_layer("linear", x.shape(), layer, is_tracked(x));

    Tensor y(with_cols(x.shape(), w.rows()));
    // In backward: relu and tanh find their derivative from y, the others from z.
    const bool keep_z = tracked && kernels::needs_input(act);
    Tensor saved = keep_z ? Tensor(y.shape()) : y;
    multiply_by_weight(x, w, Trans::yes, y.view(), tracked,
                       {.bias = bias_of(layer), .act = act, .pre = keep_z ? saved.view() : View()});

    if (act == Act::none) saved = Tensor();  // the output need not stay alive
    return record(y, {x, w, b}, [x, layer, saved, act](const Tensor& dy, Gradients& d) {
        Tensor dz = dy;
        if (act != Act::none) {
            dz = Tensor(dy.shape());
            kernels::activate_backward(act, dy.data(), saved.data(), dz.write(), dy.size());
        }
        if (d.wants(x)) input_gradient(layer.w, dz, d.into(x));
        weight_gradients(layer, x, dz, d);
    });
}

//   z  = x W₁ᵀ + b₁   a = act(z)   y = a W₂ᵀ + b₂
//   dz = dy W₂ ∘ act'(z)   dx = dz W₁   dW₂ = dyᵀ a   dW₁ = dzᵀ x     a: made again from z
Tensor feed_forward(const Tensor& x, const LayerWeights& in, const LayerWeights& out, Act act) {
    expect_f32("feed_forward", "x", x);
    const bool inner_tracked = check_layer("feed_forward", x.shape(), in, is_tracked(x));
    const Shape inner_shape = with_cols(x.shape(), in.w.rows());
    const bool tracked = check_layer("feed_forward", inner_shape, out, inner_tracked);
    if (!tracked || !kernels::needs_input(act))  // two layers keep no more than this would
        return linear(linear(x, in.w, in.b, act), out.w, out.b);

    Tensor z(inner_shape), a(inner_shape), y(with_cols(x.shape(), out.w.rows()));
    multiply_by_weight(x, in.w, Trans::yes, a.view(), true,
                       {.bias = bias_of(in), .act = act, .pre = z.view()});
    multiply_by_weight(a, out.w, Trans::yes, y.view(), true, {.bias = bias_of(out)});

    return record(
        y, {x, in.w, in.b, out.w, out.b}, [x, in, out, z, act](const Tensor& dy, Gradients& d) {
            Tensor inner(z.shape());
            if (d.wants(out.w) || d.wants(out.b)) {
                kernels::activate(act, z.data(), inner.write(), z.size());
                weight_gradients(out, inner, dy, d);
            }
            input_gradient(out.w, dy, {inner.view(), false});
            kernels::activate_backward(act, inner.data(), z.data(), inner.write(), z.size());
            if (d.wants(x)) input_gradient(in.w, inner, d.into(x));
            weight_gradients(in, x, inner, d);
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
