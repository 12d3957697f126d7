#include "fovea/ops/arithmetic.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/rows/sum_rows.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

//   y = a + 1 bᵀ    da = dy    db = Σₙ dy          a, y [n, d]   b [d]
Tensor add_row(const Tensor& a, const Tensor& b) {
    expect(b.size() == a.cols(), "+: a is ", a.shape(), " but b is ", b.shape(),
           " (same shape, or one row of a, wanted)");
    Tensor y(a.shape());
    kernels::add_row(a, b.data(), y.view());
    return record(y, {a, b},
                  [a = GradTarget(a), b = GradTarget(b)](const Tensor& dy, Gradients& d) {
                      if (d.wants(a)) d.add(a, dy);
                      if (!d.wants(b)) return;
                      const Into db = d.into(b);
                      kernels::sum_rows(dy, db.view, db.add);
                  });
}

}  // namespace

//   y = a + b    da = dy    db = dy
Tensor operator+(const Tensor& a, const Tensor& b) {
    expect_f32("+", "a", a);
    expect_f32("+", "b", b);
    if (a.shape() != b.shape()) return add_row(a, b);
    Tensor y(a.shape());
    kernels::add(a.data(), b.data(), y.write(), y.size());
    return record(y, {a, b},
                  [a = GradTarget(a), b = GradTarget(b)](const Tensor& dy, Gradients& d) {
                      if (d.wants(a)) d.add(a, dy);
                      if (d.wants(b)) d.add(b, dy);
                  });
}

//   y = a − b    da = dy    db = −dy
Tensor operator-(const Tensor& a, const Tensor& b) {
    expect_f32("-", "a", a);
    expect_f32("-", "b", b);
    expect(a.shape() == b.shape(), "-: a is ", a.shape(), " but b is ", b.shape());
    Tensor y(a.shape());
    kernels::subtract(a.data(), b.data(), y.write(), y.size());
    return record(y, {a, b},
                  [a = GradTarget(a), b = GradTarget(b)](const Tensor& dy, Gradients& d) {
                      if (d.wants(a)) d.add(a, dy);
                      if (!d.wants(b)) return;
                      const Into db = d.into(b);
                      kernels::scale(dy.data(), -1.0f, db.view.data, dy.size(), db.add);
                  });
}

//   y = c x    dx = c dy
Tensor operator*(float factor, const Tensor& x) {
    expect_f32("*", "x", x);
    Tensor y(x.shape());
    kernels::scale(x.data(), factor, y.write(), y.size());
    return record(y, {x}, [x = GradTarget(x), factor](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::scale(dy.data(), factor, dx.view.data, dy.size(), dx.add);
    });
}

Tensor operator*(const Tensor& x, float factor) { return factor * x; }

//   y = a ∘ b    da = dy ∘ b    db = dy ∘ a
Tensor mul(const Tensor& a, const Tensor& b) {
    expect_f32("mul", "a", a);
    expect_f32("mul", "b", b);
    expect(a.shape() == b.shape(), "mul: a is ", a.shape(), " but b is ", b.shape());
    Tensor y(a.shape());
    kernels::multiply(a.data(), b.data(), y.write(), y.size());
    return record(y, {a, b}, [a, b](const Tensor& dy, Gradients& d) {
        if (d.wants(a)) {
            const Into da = d.into(a);
            kernels::multiply(dy.data(), b.data(), da.view.data, dy.size(), da.add);
        }
        if (d.wants(b)) {
            const Into db = d.into(b);
            kernels::multiply(dy.data(), a.data(), db.view.data, dy.size(), db.add);
        }
    });
}

}  // namespace fovea
