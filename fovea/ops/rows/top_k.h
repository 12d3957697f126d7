#pragma once
// From rows of logits to the tokens a search looks at. Not differentiable.
#include <cstdint>
#include <utility>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// How a draw from softmax(logits / temperature) is cut, in this order.
struct SamplingCuts {
    double temperature = 1;
    int top_k = 0;     // the k best; 0: all
    double top_p = 1;  // the smallest set of the best with this mass (Holtzman et al. 2020)
    double min_p = 0;  // those at least this times as probable as the best (Nguyen et al. 2024)
};

// What is left, and how much of it: not normalised.
struct TokenMasses {
    std::vector<std::int32_t> tokens;
    std::vector<double> masses;
    double total = 0;
};

// One row: log-probabilities under softmax, the best few sorted, any other on demand.
struct TokenScores {
    std::vector<std::int32_t> best;  // highest first; equal ones by lower id
    std::vector<float> log_probs;    // of `best`
    float log_sum_exp = 0;
    const float* logits = nullptr;  // the row itself; valid while the tensor handed in lives
    std::int64_t vocabulary = 0;

    float log_prob(std::int32_t token) const { return logits[token] - log_sum_exp; }

    TokenMasses kept(const SamplingCuts& cuts) const;
    // Draws one of them with a number of [0, 1). The score is the log-probability before
    // temperature and cuts.
    std::pair<std::int32_t, float> sample(double uniform, const SamplingCuts& cuts) const;
};

// The k best of each row (k = 0: only log_sum_exp). Rows are independent of each other.
std::vector<TokenScores> top_scores(const Tensor& logits, int k);

}  // namespace fovea
