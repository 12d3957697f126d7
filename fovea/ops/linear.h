#pragma once
// Matrix products: the layer with weights, and the plain products of two activations.
#include "fovea/base/act.h"
#include "fovea/base/format.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// y = act(x Wᵀ + b), W [out, in]; b may be an empty Tensor. W may be stored as bf16 or int8 (for
// inference). x may have any rank: [..., in] gives [..., out].
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b = {}, Act act = Act::none);

// W [out, in] and b [out] of one layer; b may be an empty Tensor.
struct LayerWeights {
    Tensor w, b;
};

// y = act(x W₁ᵀ + b₁) W₂ᵀ + b₂: linear of linear with the same bits, but for backward it keeps the
// wide inner rows once instead of twice (GELU's derivative wants its input, W₂'s gradient its
// output).
Tensor feed_forward(const Tensor& x, const LayerWeights& in, const LayerWeights& out, Act act);

// c = a b, or with transposed operands: matmul(a, b, Trans::no, Trans::yes) is a bᵀ.
Tensor matmul(const Tensor& a, const Tensor& b, Trans ta = Trans::no, Trans tb = Trans::no);

}  // namespace fovea
