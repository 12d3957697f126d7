#pragma once
// Rows by number: embeddings, and the selection of rows of an activation.
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// y[i, :] = table[ids[i], :]. A parameter marked row_sparse() gets a gradient of the rows that were
// looked up alone, and costs what they cost, whatever its size. The table may be stored as bf16 or
// int8 (for inference).
Tensor gather_rows(const Tensor& table, const Ids& ids);

}  // namespace fovea
