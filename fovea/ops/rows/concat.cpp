#include "fovea/ops/rows/concat.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/blocks.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

// Writes dy into a block of dx; a fresh dx is zero outside of it.
void into_block(Into dx, std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1,
                const Tensor& dy) {
    if (!dx.add) kernels::zero_block(dx.view);
    kernels::copy_block(dy, dx.view.block(r0, r1, c0, c1), dx.add);
}

// d[p] += p's part of dy.
void hand_back(Gradients& d, const GradTarget& p, ConstView part) {
    if (!d.wants(p)) return;
    const Into dp = d.into(p);
    kernels::copy_block(part, dp.view, dp.add);
}

using Owners = std::vector<GradTarget>;

}  // namespace

//   y = [a; b; …]    da, db, … = their rows of dy          parts [nᵢ, d]   y [Σ nᵢ, d]
Tensor concat_rows(const std::vector<Tensor>& parts) {
    expect(!parts.empty(), "concat_rows: there is nothing to put together");
    std::int64_t rows = 0;
    for (const Tensor& p : parts) {
        expect_f32("concat_rows", "a part", p);
        expect(p.cols() == parts[0].cols(), "concat_rows: parts are ", parts[0].shape(), " and ",
               p.shape());
        rows = checked_add(rows, p.rows());
    }
    Tensor y({rows, parts[0].cols()});
    std::int64_t at = 0;
    for (const Tensor& p : parts) {
        kernels::copy_block(p, y.view().block(at, at + p.rows(), 0, p.cols()));
        at += p.rows();
    }
    return record(y, parts,
                  [owners = Owners(parts.begin(), parts.end())](const Tensor& dy, Gradients& d) {
                      std::int64_t from = 0;
                      for (const GradTarget& p : owners) {
                          hand_back(d, p, ConstView(dy).block(from, from + p.rows(), 0, p.cols()));
                          from += p.rows();
                      }
                  });
}

//   y = [a, b, …]    da, db, … = their columns of dy       parts [n, dᵢ]   y [n, Σ dᵢ]
Tensor concat_cols(const std::vector<Tensor>& parts) {
    expect(!parts.empty(), "concat_cols: there is nothing to put together");
    std::int64_t cols = 0;
    for (const Tensor& p : parts) {
        expect_f32("concat_cols", "a part", p);
        expect(p.rows() == parts[0].rows(), "concat_cols: parts are ", parts[0].shape(), " and ",
               p.shape());
        cols = checked_add(cols, p.cols());
    }
    Tensor y({parts[0].rows(), cols});
    std::int64_t at = 0;
    for (const Tensor& p : parts) {
        kernels::copy_block(p, y.view().block(0, p.rows(), at, at + p.cols()));
        at += p.cols();
    }
    return record(y, parts,
                  [owners = Owners(parts.begin(), parts.end())](const Tensor& dy, Gradients& d) {
                      std::int64_t from = 0;
                      for (const GradTarget& p : owners) {
                          hand_back(d, p, ConstView(dy).block(0, p.rows(), from, from + p.cols()));
                          from += p.cols();
                      }
                  });
}

//   y = x[begin … end)    dx = dy in its rows, 0 elsewhere         x [n, d]   y [end − begin, d]
Tensor slice_rows(const Tensor& x, std::int64_t begin, std::int64_t end) {
    expect_f32("slice_rows", "x", x);
    expect(0 <= begin && begin <= end && end <= x.rows(), "slice_rows: [", begin, ", ", end,
           ") is not within x, which is ", x.shape());
    Tensor y({end - begin, x.cols()});
    kernels::copy_block(ConstView(x).block(begin, end, 0, x.cols()), y.view());
    return record(y, {x}, [x = GradTarget(x), begin, end](const Tensor& dy, Gradients& d) {
        if (d.wants(x)) into_block(d.into(x), begin, end, 0, x.cols(), dy);
    });
}

//   y = x[:, begin … end)    dx = dy in its columns, 0 elsewhere   x [n, d]   y [n, end − begin]
Tensor slice_cols(const Tensor& x, std::int64_t begin, std::int64_t end) {
    expect_f32("slice_cols", "x", x);
    expect(0 <= begin && begin <= end && end <= x.cols(), "slice_cols: [", begin, ", ", end,
           ") is not within x, which is ", x.shape());
    Tensor y({x.rows(), end - begin});
    kernels::copy_block(ConstView(x).block(0, x.rows(), begin, end), y.view());
    return record(y, {x}, [x = GradTarget(x), begin, end](const Tensor& dy, Gradients& d) {
        if (d.wants(x)) into_block(d.into(x), 0, x.rows(), begin, end, dy);
    });
}

}  // namespace fovea
