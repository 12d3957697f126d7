#pragma once
// The packed form of a weight, as matrix products want it: made once for each version of a tensor,
// found again by its id, dropped when the tensor dies.
#include <functional>
#include <memory>

#include "fovea/kernels/gemm/gemm.h"
#include "fovea/kernels/gemm/pack_cache.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// W [out, in] as W' = Wᵀ (trans = yes: x Wᵀ) or W' = W (trans = no: dy W). Stored bf16 and int8
// weights keep their format; f32 weights are packed in the current precision.
std::shared_ptr<const kernels::PackedMatrix> packed_weight(const Tensor& w, Trans trans);

// The same of a convolution's W [out, in, h, w] in the order of its windows, [out, h · w · in]:
// `by_taps` is called where it is not there yet. Kept apart from w's other packed forms.
std::shared_ptr<const kernels::PackedMatrix> packed_by_taps(const Tensor& w,
                                                            const std::function<Tensor()>& by_taps);

// Y = act(X W' + bias), W' as above. Training (`trains`) writes w before it is used again, so where
// X has rows enough to pay for it, w is packed for this call alone and no packed form is kept: two
// fewer copies of each weight. The bits are the same.
void multiply_by_weight(const Tensor& x, const Tensor& w, Trans trans, View y, bool trains,
                        const kernels::GemmOptions& options = {});

}  // namespace fovea
