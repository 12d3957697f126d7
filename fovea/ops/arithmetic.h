#pragma once
// Glue: sums and products of whole tensors.
#include "fovea/tensor/tensor.h"

namespace fovea {

// Same shape; or b is one row [d] (or [1, d]) added to every row of a.
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);  // same shape
Tensor operator*(float factor, const Tensor& x);
Tensor operator*(const Tensor& x, float factor);
Tensor mul(const Tensor& a, const Tensor& b);  // elementwise, same shape

}  // namespace fovea
