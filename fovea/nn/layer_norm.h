#pragma once
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/nn/params.h"
#include "fovea/ops/norm.h"

namespace fovea {

// Ba et al. 2016: rows to mean 0 and variance 1, then scaled and shifted by column.
struct LayerNorm {
    LayerNorm(int width, const Params& p, float epsilon = 1e-5f)
        : weight(p.get("weight", {width}, ones())),
          bias(p.get("bias", {width}, zeros())),
          eps(epsilon) {}

    Tensor operator()(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }

    Tensor weight, bias;
    float eps;
};

}  // namespace fovea
