#pragma once
// The gradient of a table of which a batch looks up few rows: those rows alone, so that a table of
// millions costs what the batch touches. It holds the same bits, row by row, as the dense gradient
// of the same ops would: sums run in the same order, and a row that one of two summands lacks is
// added as the zeros it stands for.
// Not thread-safe: it belongs to its Gradients.
#include "fovea/base/view.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Where a backward kernel writes the rows of a table: the gradient of lookup i goes to row
// places[i] of `view`. add = false: the view is fresh, not zeroed, and the first write to a row
// assigns; else all of it holds a sum so far.
struct RowsInto {
    Ids places;
    View view;
    bool add = false;
};

struct RowGradient {
    Ids rows;       // of the table that have a gradient, rising
    Tensor values;  // [rows, columns of the table]

    // Makes room for the rows `ids` (any order, repeated).
    RowsInto into(const Ids& ids, std::int64_t cols);
    RowGradient& operator+=(const RowGradient& other);
    Tensor dense(const Shape& shape) const;  // zeros where it has no row
};

}  // namespace fovea
