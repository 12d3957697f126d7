#pragma once
// Attention in three functions: softmax-mix the values (attention), pick one (attention_hard), or
// stop at the scores (pointer_scores). Who sees whom is a Visibility; the same rows give the same
// bits packed, alone, cached or in full, with any number of threads.
#include <optional>
#include <vector>

#include "fovea/tensor/tensor.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

struct AttentionOptions {
    std::optional<float> scale{};        // of q·k; 1/√d_k unless given
    float dropout = 0;                   // on the weights, while a tape with dropout is alive
    std::vector<Visibility> per_head{};  // one a head, instead of the common one; else empty
};

// q [nq, heads·dk], k [nk, heads·dk], v [nk, heads·dv] -> [nq, heads·dv]. A row that sees nothing
// gives zeros, with zero gradient.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, int heads,
                 const Visibility& sees, const AttentionOptions& options = {});

}  // namespace fovea
