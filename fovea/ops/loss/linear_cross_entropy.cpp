#include "fovea/ops/loss/linear_cross_entropy.h"

#include <algorithm>

#include "fovea/autograd/tape.h"
#include "fovea/kernels/elementwise.h"
#include "fovea/kernels/gemm/gemm.h"
#include "fovea/kernels/rows/loss.h"
#include "fovea/kernels/rows/sum_rows.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/packed_weight.h"

namespace fovea {
namespace {

// About 32 MB of logits at a time: enough rows that W is read seldom, few enough that the pool
// hardly notices. A multiple of 32, so that dW summed chunk by chunk has the bits of one product.
std::int64_t chunk_rows(std::int64_t classes) {
    return std::clamp<std::int64_t>((std::int64_t{1} << 23) / classes / 32 * 32, 32, 2048);
}

// The gradients for dy = 1, made during forward.
struct Made {
    Tensor dh, dw, db;
};

// d[x] += dy · made; without a copy where dy is 1, which is the rule.
void hand_over(Gradients& d, const GradTarget& x, const Tensor& made, float dy) {
    if (made.empty() || !d.wants(x)) return;
    if (dy == 1.0f) return d.add(x, made);
    const Into dx = d.into(x);
    kernels::scale(made.data(), dy, dx.view.data, made.size(), dx.add);
}

}  // namespace

//   x = h Wᵀ + b   p = softmax(x)   y = Σ f l(p, t)      (l, t, f as in cross_entropy)
//   dx = dy f (p − t)   dh = dx W   dW = dxᵀ h   db = Σₙ dx
//   h [n, d]   W [classes, d]   b [classes]   y [1]; x exists for one chunk of rows at a time
Tensor linear_cross_entropy(const Tensor& h, const Tensor& w, const Tensor& b, const Ids& labels,
                            const CrossEntropyOptions& options) {
    const char* op = "linear_cross_entropy";
    expect_f32(op, "h", h);
    expect(!w.empty(), op, ": W is an empty tensor");
    expect(w.shape().rank() == 2 && h.cols() == w.cols() && w.cols() > 0, op, ": h is ", h.shape(),
           " but W is ", w.shape());
    if (!b.empty()) expect_f32(op, "b", b);
    expect(b.empty() || b.size() == w.rows(), op, ": b is ", b.shape(), " but W is ", w.shape());
    expect(options.reduction != Reduction::none, op,
           ": without reduction there is no single gradient to make on the way (use "
           "cross_entropy of linear)");
    const std::vector<float> factors = detail::row_factors(op, h.rows(), w.rows(), labels, options);
    const bool want_h = is_tracked(h), want_w = is_tracked(w), want_b = is_tracked(b);
    const bool tracked = want_h || want_w || want_b;
    if (tracked) expect_f32(op, "a W that a tape records", w);

    const std::int64_t n = h.rows(), d = h.cols(), classes = w.rows();
    const std::int64_t chunk = std::min(std::max<std::int64_t>(n, 1), chunk_rows(classes));
    Tensor logits({chunk, classes}), stats({chunk, 2}), losses({n});
    Made made{.dh = want_h ? Tensor(h.shape()) : Tensor(),
              .dw = want_w ? (n ? Tensor(w.shape()) : Tensor::zeros(w.shape())) : Tensor(),
              .db = want_b ? (n ? Tensor(b.shape()) : Tensor::zeros(b.shape())) : Tensor()};
    auto* row_stats = reinterpret_cast<kernels::SoftmaxStats*>(stats.write());
    const auto forward = packed_weight(w, Trans::yes);
    const auto backward = want_h ? packed_weight(w, Trans::no) : nullptr;
    for (std::int64_t row = 0; row < n; row += chunk) {
        const std::int64_t rows = std::min(chunk, n - row);
        const ConstView part(h.data() + row * d, rows, d);
        const View x(logits.write(), rows, classes);
        kernels::gemm_packed(part, *forward, x, {.bias = b.empty() ? ConstView() : ConstView(b)});
        kernels::cross_entropy(x, labels.data() + row, options.ignore, options.smoothing, row_stats,
                               losses.write() + row);
        if (!tracked) continue;
        kernels::cross_entropy_backward(x, labels.data() + row, options.ignore, options.smoothing,
                                        row_stats, factors.data() + row, x);
        if (want_h) kernels::gemm_packed(x, *backward, {made.dh.write() + row * d, rows, d});
        if (want_w)
            kernels::gemm(Trans::yes, Trans::no, x, part, made.dw.view(),
                          {.accumulate = row > 0, .precision = current_precision()});
        if (want_b) kernels::sum_rows(x, made.db.view(), row > 0);
    }
    const Tensor y = detail::reduced(losses, factors, options.reduction);

    return record(y, {h, w, b},
                  [h = GradTarget(h), w = GradTarget(w), b = GradTarget(b), made](const Tensor& dy,
                                                                                  Gradients& g) {
                      hand_over(g, h, made.dh, dy.item());
                      hand_over(g, w, made.dw, dy.item());
                      hand_over(g, b, made.db, dy.item());
                  });
}

}  // namespace fovea
