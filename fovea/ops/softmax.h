#pragma once
// Softmax over each row, outside of attention and of the losses (which have their own inside).
#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x);
Tensor log_sum_exp(const Tensor& x);  // [n, c] -> [n]

}  // namespace fovea
