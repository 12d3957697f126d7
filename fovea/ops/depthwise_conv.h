#pragma once
// The first half of a depthwise separable convolution (Chollet 2017): each column is convolved with
// weights of its own; a linear layer behind it then mixes the columns.
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// x [total, d] with its segments, w [d, 1, k] as PyTorch has it (groups = d), k odd, b [d] or empty
// -> [total, d]: zeros stand beyond both ends of every sequence, which keeps its length.
Tensor depthwise_conv1d(const Tensor& x, const Segments& segments, const Tensor& w,
                        const Tensor& b);

}  // namespace fovea
