#pragma once
#include "fovea/ops/loss/cross_entropy.h"

namespace fovea {

// cross_entropy(linear(h, W, b), labels, options), chunk of rows by chunk of rows: the logits over
// a vocabulary are never stored as a whole. b may be empty. While a tape records it, the gradients
// of h, W and b are made on the way (nothing is computed twice), so it costs its memory at once.
Tensor linear_cross_entropy(const Tensor& h, const Tensor& w, const Tensor& b, const Ids& labels,
                            const CrossEntropyOptions& options = {});

}  // namespace fovea
