#pragma once
// Hard attention by sampling (Xu et al. 2015, §4.1; Williams 1992, REINFORCE), as an experiment
// beside the straight-through gradient of attention_hard: places are drawn, what they led to is
// judged, and the gradient of the expected judgement is estimated from the draws alone.
//
//   E = Σ_j p_j f_j,  p = softmax(s)      ∂E/∂s_k = p_k (f_k − E)
//   with j ~ p:  ĝ = (f_j − b) ∂ log p_j / ∂s,  of which the mean is ∂E/∂s for any b
//   that does not depend on j; the nearer b is to E, the less ĝ scatters. b is a running mean:
//   b ← β b + (1 − β) mean f
//
// Not thread-safe: a baseline belongs to one training.
#include <cstdint>
#include <span>

#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// One place for each row of scores [rows, places], drawn by softmax; a function of the key and the
// row alone. No gradient flows.
Ids draw_places(const Tensor& scores, std::uint64_t key);

class Reinforce {
public:
    // β of the running mean; without it b stays 0.
    explicit Reinforce(double beta = 0.9, bool with_baseline = true)
        : beta_(beta), with_baseline_(with_baseline) {}

    // A loss whose gradient to the scores is the mean over the rows of ĝ, for the places that were
    // drawn and what each led to. Then moves the baseline.
    Tensor surrogate(const Tensor& scores, const Ids& drawn, std::span<const double> judged);

    double baseline() const { return baseline_; }

private:
    double beta_, baseline_ = 0;
    bool with_baseline_, begun_ = false;
};

}  // namespace fovea
