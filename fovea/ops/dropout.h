#pragma once
#include "fovea/tensor/tensor.h"

namespace fovea {

// Zeroes each value with probability p and divides the others by 1 − p, while a tape with dropout
// is alive; otherwise hands x back. The mask is a function of the tape's key, the site (the how
// manyth dropout of this tape), sample and row in its sequence (x.row_names()) and column: so that
// it does not change with the batch. Rows without names are an error.
Tensor dropout(const Tensor& x, float p);

// x + dropout(branch, p) in one pass: a pre-norm sublayer's end.
Tensor add_dropout(const Tensor& x, const Tensor& branch, float p);

}  // namespace fovea
