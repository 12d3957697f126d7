#pragma once
// From rows of logits to the tokens a search looks at. Not differentiable.
#include <cstdint>
#include <utility>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// One row: log-probabilities under softmax, the best few sorted, any other on demand.
struct TokenScores {
    std::vector<std::int32_t> best;  // highest first; equal ones by lower id
    std::vector<float> log_probs;    // of `best`
    float log_sum_exp = 0;
    const float* logits = nullptr;  // the row itself; valid while the tensor handed in lives
    std::int64_t vocabulary = 0;

    float log_prob(std::int32_t token) const { return logits[token] - log_sum_exp; }

    // Draws a token with a number of [0, 1): softmax(logits / temperature) cut to the top_k best
    // (0: all) and to the smallest set of mass top_p. The score is the log-probability before
    // temperature and cuts.
    std::pair<std::int32_t, float> sample(double uniform, double temperature, int top_k,
                                          double top_p) const;
};

// The k best of each row (k = 0: only log_sum_exp). Rows are independent of each other.
std::vector<TokenScores> top_scores(const Tensor& logits, int k);

}  // namespace fovea
