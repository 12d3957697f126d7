#pragma once
// Thread-safety: const calls from several threads are safe without a tape. With one, a call moves
// the running averages: one thread at a time.
#include <algorithm>

#include "fovea/nn/params.h"
#include "fovea/ops/batch_norm.h"

namespace fovea {

// Ioffe & Szegedy 2015: columns to mean 0 and variance 1 over the rows of a batch, then scaled and
// shifted. Without a tape by running averages of what the batches in training had; they are stored
// with the parameters under PyTorch's names, and not trained.
struct BatchNorm {
    BatchNorm(int width, const Params& p, const BatchNormOptions& how = {})
        : weight(p.get("weight", {width}, ones())),
          bias(p.get("bias", {width}, zeros())),
          running_mean(p.constant("running_mean", {width}, zeros())),
          running_var(p.constant("running_var", {width}, ones())),
          options(how) {}

    Tensor operator()(const Tensor& x) const {
        const BatchNormResult normed =
            batch_norm(x, weight, bias, {running_mean, running_var}, options);
        if (normed.state.mean.id() != running_mean.id()) {  // a tape is alive
            Tensor mean = running_mean, variance = running_var;
            std::copy_n(normed.state.mean.data(), mean.size(), mean.write());
            std::copy_n(normed.state.variance.data(), variance.size(), variance.write());
        }
        return normed.y;
    }

    Tensor weight, bias, running_mean, running_var;
    BatchNormOptions options;
};

}  // namespace fovea
