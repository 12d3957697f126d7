#pragma once
// Activations where no matrix product precedes them (linear takes them along; see Act).
#include "fovea/base/act.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

Tensor activate(const Tensor& x, Act act);
Tensor sigmoid(const Tensor& x);

inline Tensor relu(const Tensor& x) { return activate(x, Act::relu); }
inline Tensor gelu(const Tensor& x) { return activate(x, Act::gelu); }
inline Tensor gelu_tanh(const Tensor& x) { return activate(x, Act::gelu_tanh); }
inline Tensor tanh(const Tensor& x) { return activate(x, Act::tanh); }
inline Tensor swish(const Tensor& x) { return activate(x, Act::swish); }

}  // namespace fovea
