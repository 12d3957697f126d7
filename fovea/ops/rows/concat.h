#pragma once
// Putting tensors together and taking them apart, by rows and by columns. Tensors are seen as
// matrices; results are [rows, cols].
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor concat_rows(const std::vector<Tensor>& parts);  // the same columns, one after the other
Tensor concat_cols(const std::vector<Tensor>& parts);  // the same rows, side by side
Tensor slice_rows(const Tensor& x, std::int64_t begin, std::int64_t end);
Tensor slice_cols(const Tensor& x, std::int64_t begin, std::int64_t end);

}  // namespace fovea
