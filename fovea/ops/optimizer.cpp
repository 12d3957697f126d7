#include "fovea/ops/optimizer.h"

#include <cmath>

#include "fovea/kernels/adam.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/rows/square_sum.h"
#include "fovea/kernels/sgd.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

void expect_like(const char* op, const Tensor& w, const char* name, const Tensor& t) {
    expect_f32(op, name, t);
    expect(t.shape() == w.shape(), op, ": the parameter is ", w.shape(), " but ", name, " is ",
           t.shape());
}

void expect_rows_of(const char* op, const Tensor& w, const RowGradient& g) {
    const auto rows = static_cast<std::int64_t>(g.rows.size());
    expect(g.values.rows() == rows && g.values.cols() == w.cols() &&
               (rows == 0 || (g.rows.front() >= 0 && g.rows.back() < w.rows())),
           op, ": the parameter is ", w.shape(), " but its gradient ", g.values.shape(), " for ",
           rows, " rows", rows == 0 ? "" : text_of(" up to ", g.rows.back()));
}

}  // namespace

void adamw_update(Tensor& w, const Tensor& g, Tensor& m, Tensor& v, const AdamStep& step) {
    expect_f32("adamw", "the parameter", w);
    expect_like("adamw", w, "its gradient", g);
    expect_like("adamw", w, "m", m);
    expect_like("adamw", w, "v", v);
    expect(step.step >= 1, "adamw: step is ", step.step, " but the first is 1");
    kernels::adamw(w.write(), g.data(), m.write(), v.write(), w.size(), step);
}

void sgd_update(Tensor& w, const Tensor& g, Tensor& b, const SgdStep& step) {
    expect_f32("sgd", "the parameter", w);
    expect_like("sgd", w, "its gradient", g);
    expect_like("sgd", w, "b", b);
    kernels::sgd(w.write(), g.data(), b.write(), w.size(), step);
}

void adamw_update(Tensor& w, const RowGradient& g, Tensor& m, Tensor& v, const AdamStep& step) {
    expect_f32("adamw", "the parameter", w);
    expect_rows_of("adamw", w, g);
    expect_like("adamw", w, "m", m);
    expect_like("adamw", w, "v", v);
    expect(step.step >= 1, "adamw: step is ", step.step, " but the first is 1");
    kernels::adamw_rows({w.write(), m.write(), v.write()}, g.values, g.rows, step);
}

void sgd_update(Tensor& w, const RowGradient& g, Tensor& b, const SgdStep& step) {
    expect_f32("sgd", "the parameter", w);
    expect_rows_of("sgd", w, g);
    expect_like("sgd", w, "b", b);
    kernels::sgd_rows(w.write(), g.values, b.write(), g.rows, step);
}

double global_norm(const Gradients& gradients, std::span<const Tensor> parameters) {
    double sum = 0;
    for (const Tensor& p : parameters) {
        if (!gradients.has(p)) continue;
        if (const RowGradient* rows = gradients.rows(p)) {
            sum += kernels::square_sum_of_rows(rows->values, rows->rows);
            continue;
        }
        const Tensor g = gradients[p];
        sum += kernels::square_sum(g.data(), g.size());
    }
    return std::sqrt(sum);
}

float clip_scale(double norm, double largest) {
    expect(largest > 0, "clip: the largest norm is ", largest, " but must be positive");
    if (!std::isfinite(norm) || norm <= largest) return 1.0f;
    return static_cast<float>(largest / norm);
}

double clip_global_norm(Gradients& gradients, std::span<const Tensor> parameters, double largest) {
    const double norm = global_norm(gradients, parameters);
    const float factor = clip_scale(norm, largest);
    if (factor == 1.0f) return norm;
    for (const Tensor& p : parameters) {
        if (!gradients.has(p)) continue;
        Tensor& g = gradients.at(p);
        kernels::scale(g.data(), factor, g.write(), g.size());
    }
    return norm;
}

}  // namespace fovea
