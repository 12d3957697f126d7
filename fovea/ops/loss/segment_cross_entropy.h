#pragma once
// A choice among the rows of each sequence: where an answer begins, where it ends.
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// −log softmax over the rows of each segment, for each column by itself: scores [total, columns],
// labels [segments · columns] (the wanted row of the segment, counted from its first; negative: not
// counted). The mean over the labels that count; 0 where there is none.
Tensor segment_cross_entropy(const Tensor& scores, const Segments& segments, const Ids& labels);

}  // namespace fovea
