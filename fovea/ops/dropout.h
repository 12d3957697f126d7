#pragma once
#include <optional>

#include "fovea/kernels/dropout.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Zeroes each value with probability p and divides the others by 1 − p, while a tape with dropout
// is alive; otherwise hands x back. The mask is a function of the tape's key, the site (the how
// manyth dropout of this tape), sample and row in its sequence (x.row_names(); without names the
// packed row) and column.
Tensor dropout(const Tensor& x, float p);

// x + dropout(branch, p) in one pass: a pre-norm sublayer's end.
Tensor add_dropout(const Tensor& x, const Tensor& branch, float p);

// For ops that have dropout inside: what the mask of one call is made from. A small value for the
// backward lambda to keep, since the mask is computed again there.
struct DropoutPlan {
    Segments names;
    std::int64_t rows, cols;  // x seen as one named row each
    float p;
    std::uint64_t key;
    std::uint32_t site;

    kernels::DropoutMask mask() const;
};
// Nothing where no dropout is wanted (no tape, a tape without dropout, p = 0, nothing in x); takes
// a site of the tape otherwise. Names come from x, else from `other`.
std::optional<DropoutPlan> plan_dropout(const char* op, const Tensor& x, float p,
                                        const Tensor* other = nullptr);

}  // namespace fovea
