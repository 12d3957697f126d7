#pragma once
// Gradients as a value: a tensor for each tensor id. During a backward walk ops write into it; what
// remains afterwards are the gradients of parameters and of tensors that were asked for.
// Not thread-safe: it belongs to the thread of its tape.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fovea/autograd/row_gradient.h"
#include "fovea/base/view.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Where a backward kernel writes: the first write assigns, later ones add.
struct Into {
    View view;
    bool add = false;
};

// What a tensor is to a backward walk, without its data: an op whose backward does not read an
// input captures this of it, and the input's memory serves others from then on.
struct GradTarget {
    GradTarget(const Tensor& x)
        : id(x.id()),
          tape(x.tape()),
          trainable(x.trainable()),
          row_sparse(x.row_sparse()),
          shape(x.shape()) {}
    std::int64_t rows() const { return shape.rows(); }
    std::int64_t cols() const { return shape.cols(); }

    std::uint64_t id, tape;
    bool trainable, row_sparse;
    Shape shape;
};

class Gradients {
public:
    explicit Gradients(std::uint64_t tape = 0) : tape_(tape) {}

    // Does anyone need the gradient of x? (Frozen layers and inputs: no.)
    bool wants(const GradTarget& x) const { return x.trainable || (tape_ != 0 && x.tape == tape_); }

    // The place to write the gradient of x: fresh (add = false, not zeroed) or existing (add =
    // true).
    Into into(const GradTarget& x);

    // The same for a table of which only the rows `ids` have a gradient: see RowsInto. Asked for
    // where takes_rows() says so: a parameter that is kept by rows, until a gradient for all of its
    // rows has come (tied weights), from when on it is like any other.
    bool takes_rows(const GradTarget& x) const;
    RowsInto into_rows(const GradTarget& x, const Ids& ids);

    // d[x] += dx. The first one is kept as a handle: no copy.
    void add(const GradTarget& x, const Tensor& dx);

    bool has(const Tensor& x) const { return entries_.count(x.id()) > 0; }
    // The gradient of x; zeros where none has reached it.
    Tensor operator[](const Tensor& x) const;
    // The gradient of x as rows, where it is kept so; else null.
    const RowGradient* rows(const Tensor& x) const;
    // Must exist; for clipping and scaling. The rows' values where it is kept by rows.
    Tensor& at(const Tensor& x);

    Gradients& operator+=(const Gradients& other);  // micro-batches

    // For the walk: takes the gradient of an intermediate out, or an empty tensor.
    Tensor take(std::uint64_t id);
    // For the walk: whose intermediates are wanted from now on; hands back whose were before.
    std::uint64_t set_tape(std::uint64_t tape) { return std::exchange(tape_, tape); }
    bool empty() const { return entries_.empty(); }
    std::size_t count() const { return entries_.size(); }

private:
    struct Entry {
        Tensor value;
        bool shared = false;  // the handle may be somebody else's: copy before adding
        std::optional<RowGradient> rows = {};  // instead of `value`
    };
    Tensor& own(Entry& e);
    void make_dense(Entry& e, const Shape& shape);
    std::unordered_map<std::uint64_t, Entry> entries_;
    std::uint64_t tape_;
};

}  // namespace fovea
