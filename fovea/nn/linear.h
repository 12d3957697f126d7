#pragma once
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/nn/params.h"
#include "fovea/ops/linear.h"

namespace fovea {

// y = act(x Wᵀ + b)
struct Linear {
    Linear(int in, int out, const Params& p, const Init& init = xavier())
        : weight(p.get("weight", {out, in}, init)), bias(p.get("bias", {out}, zeros())) {}

    Tensor operator()(const Tensor& x, Act act = Act::none) const {
        return linear(x, weight, bias, act);
    }

    Tensor weight, bias;
};

}  // namespace fovea
