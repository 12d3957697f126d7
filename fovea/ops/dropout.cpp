#include "fovea/ops/dropout.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/dropout.h"
#include "fovea/ops/arguments.h"

namespace fovea {

//   y = m ∘ x / (1 − p)    dx = m ∘ dy / (1 − p)      m computed again in backward, never stored
Tensor dropout(const Tensor& x, float p) {
    expect_f32("dropout", "x", x);
    expect(p >= 0 && p < 1, "dropout: p is ", p, " but must be in [0, 1)");
    Tape* tape = current_tape();
    if (!tape || !tape->has_dropout() || p == 0 || x.size() == 0) return x;

    const Segments names = x.row_names() && x.size() % x.row_names()->total() == 0
                               ? *x.row_names()
                               : Segments::of_lengths({x.rows()});
    const auto mask = [names, p, key = tape->dropout_key(), site = tape->next_dropout_site()] {
        return kernels::dropout_mask(key, site, p, names.offsets(), names.samples());
    };
    // A reshaped tensor has the names of its first shape: a named row is then several rows here.
    const std::int64_t rows = names.total(), cols = x.size() / rows;
    Tensor y(x.shape());
    kernels::dropout({x.data(), rows, cols}, mask(), {y.write(), rows, cols});

    return record(y, {x}, [x, mask, rows, cols](const Tensor& dy, Gradients& d) {
        if (!d.wants(x)) return;
        const Into dx = d.into(x);
        kernels::dropout({dy.data(), rows, cols}, mask(), {dx.view.data, rows, cols}, dx.add);
    });
}

}  // namespace fovea
