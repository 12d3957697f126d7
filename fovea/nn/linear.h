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

// y = act(x W₁ᵀ + b₁) W₂ᵀ + b₂, in less memory than out(in(x, act))
inline Tensor feed_forward(const Tensor& x, const Linear& in, const Linear& out, Act act) {
    return feed_forward(x, {in.weight, in.bias}, {out.weight, out.bias}, act);
}

}  // namespace fovea
