#pragma once
// One row for each sequence: x [total, d] with its segments gives [sequences, d], rows named by
// their sample. An empty sequence gives zeros, and no gradient flows.
#include <vector>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor segment_mean(const Tensor& x, const Segments& segments);
// Rows under weights, one for each, which are not trained.
Tensor segment_sum(const Tensor& x, const std::vector<float>& weights, const Segments& segments);
Tensor segment_max(const Tensor& x, const Segments& segments);
Tensor segment_first(const Tensor& x, const Segments& segments);
Tensor segment_last(const Tensor& x, const Segments& segments);

}  // namespace fovea
