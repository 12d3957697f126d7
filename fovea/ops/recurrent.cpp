#include "fovea/ops/recurrent.h"

#include <algorithm>
#include <memory>

#include "fovea/autograd/tape.h"
#include "fovea/kernels/gemm/gemm.h"
#include "fovea/kernels/recurrent.h"
#include "fovea/kernels/rows/sum_rows.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/packed_weight.h"

namespace fovea {
namespace {

struct CellKind {
    const char* name;
    std::int64_t gates, parts;  // of x, of the state
    void (*forward)(const kernels::TimeSteps&, const kernels::RecurrentForward&);
    void (*backward)(const kernels::TimeSteps&, const kernels::RecurrentBackward&);
};

void check_recurrence(const CellKind& cell, const Tensor& x, const Segments& segments,
                      const RecurrentWeights& w, const Tensor& start) {
    expect_f32(cell.name, "x", x);
    expect(!w.weight.empty(), cell.name, ": W is an empty tensor");
    const std::int64_t h = w.weight.cols();
    expect(w.weight.shape().rank() == 2 && h > 0 && w.weight.rows() == cell.gates * h, cell.name,
           ": W is ", w.weight.shape(), " but must be [", cell.gates, " h, h]");
    expect(x.cols() == cell.gates * h, cell.name, ": x is ", x.shape(), " but W is ",
           w.weight.shape());
    expect(x.rows() == segments.total(), cell.name, ": x is ", x.shape(), " but the segments have ",
           segments.total(), " rows");
    expect(w.bias.empty() || (w.bias.format() == Format::f32 && w.bias.size() == cell.gates * h),
           cell.name, ": b is ", w.bias.shape(), " but W is ", w.weight.shape());
    if (start.empty()) return;
    expect_f32(cell.name, "start", start);
    expect(start.rows() == segments.count() && start.cols() == cell.parts * h, cell.name,
           ": start is ", start.shape(), " but there are ", segments.count(),
           " sequences with states of ", cell.parts * h);
}

// Rows in the order of time steps, back to the order of the sequences.
void give_start(const Tensor& by_length, const kernels::TimeSteps& time, const Into& to) {
    for (std::size_t i = 0; i < time.order.size(); ++i) {
        const float* from = by_length.data() + static_cast<std::int64_t>(i) * by_length.cols();
        float* at = to.view.row(time.order[i]);
        for (std::int64_t j = 0; j < by_length.cols(); ++j)
            at[j] = to.add ? at[j] + from[j] : from[j];
    }
}

//   z_t = h_{t−1} W_hhᵀ + b_hh      state_t = cell(x_t, z_t, state_{t−1})
//   backward through time, for t from the last to the first:
//   (dx_t, dz_t, dstate_{t−1}) = cell'(dy_t + dstate_t)      dh_{t−1} += dz_t W_hh
//   dW_hh = Σ_t dz_tᵀ h_{t−1}      db_hh = Σ_t dz_t
//   x, z [rows, gates·h]   W_hh [gates·h, h]   start [sequences, state]   y [rows, state]
Tensor recurrence(const CellKind& cell, const Tensor& x, const Segments& segments,
                  const RecurrentWeights& weights, const RecurrentOptions& options) {
    const Tensor &w = weights.weight, &b = weights.bias, &start = options.start;
    check_recurrence(cell, x, segments, weights, start);
    const bool tracked = is_tracked(x) || is_tracked(w) || (!b.empty() && is_tracked(b)) ||
                         (!start.empty() && is_tracked(start));
    if (tracked && w.format() != Format::f32)
        fail_with(ErrorKind::failed, "train with the f32 weights and convert them afterwards",
                  cell.name, ": W ", w.shape(), " is stored as ", name_of(w.format()),
                  ", which is for inference, but a tape records this call");

    const auto time =
        std::make_shared<const kernels::TimeSteps>(segments.offsets(), options.backwards);
    const std::int64_t h = w.cols(), state = cell.parts * h;
    Tensor y({x.rows(), state}), before({x.rows(), state}), gates;
    if (tracked) gates = Tensor({x.rows(), 4 * h});
    cell.forward(*time, {.x = x,
                         .w = packed_weight(w, Trans::yes).get(),
                         .bias = b.empty() ? ConstView() : ConstView(b),
                         .start = start.empty() ? ConstView() : ConstView(start),
                         .y = y.view(),
                         .before = before.view(),
                         .gates = tracked ? gates.write() : nullptr});

    return record(y, {x, w, b, start},
                  [cell, to_x = GradTarget(x), w, b, to_start = GradTarget(start), time, y, before,
                   gates](const Tensor& dy, Gradients& d) {
                      const std::int64_t width = w.rows(), hidden = w.cols();
                      Tensor dx({dy.rows(), width}), dz({dy.rows(), width});
                      Tensor dstart({static_cast<std::int64_t>(time->order.size()), dy.cols()});
                      cell.backward(*time, {.w = packed_weight(w, Trans::no).get(),
                                            .y = y,
                                            .before = before,
                                            .gates = gates.data(),
                                            .dy = dy,
                                            .dx = dx.view(),
                                            .dz = dz.view(),
                                            .dstart = dstart.view()});
                      if (d.wants(to_x)) d.add(to_x, dx);
                      if (d.wants(w)) {
                          const Into dw = d.into(w);
                          const ConstView h_before(before.data(), before.rows(), hidden,
                                                   before.cols());
                          kernels::gemm(Trans::yes, Trans::no, dz, h_before, dw.view,
                                        {.accumulate = dw.add, .precision = current_precision()});
                      }
                      if (d.wants(b)) {
                          const Into db = d.into(b);
                          kernels::sum_rows(dz, db.view, db.add);
                      }
                      if (d.wants(to_start)) give_start(dstart, *time, d.into(to_start));
                  });
}

}  // namespace

//   r = σ(x_r + z_r)   z = σ(x_z + z_z)   n = tanh(x_n + r ∘ z_n)   h' = (1 − z) ∘ n + z ∘ h
Tensor gru(const Tensor& x, const Segments& segments, const RecurrentWeights& w,
           const RecurrentOptions& options) {
    return recurrence({"gru", 3, 1, kernels::gru_forward, kernels::gru_backward}, x, segments, w,
                      options);
}

//   i, f, o = σ(x + z)   g = tanh(x_g + z_g)   c' = f ∘ c + i ∘ g   h' = o ∘ tanh c'
Tensor lstm(const Tensor& x, const Segments& segments, const RecurrentWeights& w,
            const RecurrentOptions& options) {
    return recurrence({"lstm", 4, 2, kernels::lstm_forward, kernels::lstm_backward}, x, segments, w,
                      options);
}

}  // namespace fovea
