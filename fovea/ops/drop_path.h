#pragma once
#include "fovea/tensor/tensor.h"

namespace fovea {

// Stochastic depth (Huang et al. 2016): while a tape with dropout is alive, all rows of a sample
// are zeroed together with probability p, and those of the others divided by 1 − p; otherwise x is
// handed back. What is drawn is a function of the tape's key, the site and the sample
// (x.row_names()), as in dropout. Rows without names are an error.
Tensor drop_path(const Tensor& x, float p);

}  // namespace fovea
