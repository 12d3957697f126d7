#pragma once
// Coverage: how much of the weight of the steps before has already gone to each place of a source
// (See et al. 2017, eqs. 10 and 12):
//   c^t = Σ_{t' < t} a^{t'}      loss_t = Σ_j min(a_j^t, c_j^t)      a = softmax of a row's scores
// It is large where a decoder looks again at what it has looked at.
#include "fovea/tensor/ragged.h"
#include "fovea/tensor/segments.h"

namespace fovea {

// Each row's softmax, of rows of different lengths.
Ragged ragged_softmax(const Ragged& scores);

// The mean of loss_t over all rows. The rows of scores are those of `targets`, and the rows of one
// target see equally many places. No rows: 0.
Tensor coverage_loss(const Ragged& scores, const Segments& targets);

}  // namespace fovea
