#pragma once
// Activation checkpointing (Chen et al. 2016) as an op like any other.
#include <functional>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// y = function(inputs), whose activations are dropped at once and computed again in backward: a
// model of L layers then holds one layer's activations and L outputs, for a third more work. The
// function must compute the same from the same inputs (dropout does: its masks are functions of
// the tape), and must be handed every tensor of the outer tape it reads; parameters it may capture.
Tensor recompute(const std::function<Tensor(const std::vector<Tensor>&)>& function,
                 const std::vector<Tensor>& inputs);

}  // namespace fovea
