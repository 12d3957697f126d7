#pragma once
// Attention in three functions: softmax-mix the values (attention), pick one (attention_hard), or
// stop at the scores (pointer_scores). Who sees whom is a Visibility; how a score is computed is
// options.score. The same rows give the same bits packed, alone, cached or in full, with any number
// of threads. A Probe that is alive is told of every call (ops/probe.h).
#include <optional>
#include <string>
#include <vector>

#include "fovea/ops/attention/attention_score.h"
#include "fovea/tensor/ragged.h"
#include "fovea/tensor/tensor.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

struct AttentionOptions {
    std::optional<float> scale{};        // of the dot product; 1/√d_k unless given
    float dropout = 0;                   // on the weights, while a tape with dropout is alive
    std::vector<Visibility> per_head{};  // one per head, instead of the common one; else empty
    Score score{};
    std::string name = "attention";  // what a Probe knows the call by: the path of its parameters
};

// q [nq, heads·dk], k [nk, heads·dk], v [nk, heads·dv] -> [nq, heads·dv]. Head h owns columns
// [h·d/heads, (h+1)·d/heads). A row that sees nothing gives zeros, with zero gradient.
// k and v may be a cache with room to spare: the visibility says which of their rows are read.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads,
                 const Visibility& sees, const AttentionOptions& options = {});

// Each row of each head takes the value of one key: drawn by its weight while a tape with dropout
// is alive, the heaviest otherwise. Straight-through gradient (Bengio et al. 2013): backward is
// that of the softmax mixture for the scores, of the chosen value for v. options.dropout is not
// looked at.
Tensor attention_hard(const Tensor& q, const Tensor& k, const Tensor& v, int heads,
                      const Visibility& sees, const AttentionOptions& options = {});

// The scores of one head, a logit for each key a row sees (Vinyals et al. 2015). The gradient flows
// through .values.
Ragged pointer_scores(const Tensor& q, const Tensor& k, const Visibility& sees,
                      const AttentionOptions& options = {});

}  // namespace fovea
