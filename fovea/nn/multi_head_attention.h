#pragma once
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <string>

#include "fovea/nn/kv_cache.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/sight.h"

namespace fovea {

// Vaswani et al. 2017, §3.2.2:  MultiHead(Q, K, V) = Concat(head₁ … headₕ) W^O.
// Head h owns columns [h·d/heads, (h+1)·d/heads) of q, k and v, so nothing is transposed.
struct MultiHeadAttention {
    MultiHeadAttention(int width, int n_heads, const Params& p, float drop = 0.0f)
        : q_proj(width, width, p / "q_proj", one_of_three()),
          k_proj(width, width, p / "k_proj", one_of_three()),
          v_proj(width, width, p / "v_proj", one_of_three()),
          out_proj(width, width, p / "out_proj"),
          name(p.path().empty() ? "attention" : p.path()),
          heads(n_heads),
          p_drop(drop) {
        expect(heads > 0 && width % heads == 0, "attention: ", width, " columns do not split into ",
               heads, " heads");
    }

    // Self-attention: memory = x. Cross-attention: memory = the encoder's output. Which rows of
    // memory a row of x may look at (causal, window, own sequence) is data, in `sees`.
    Tensor operator()(const Tensor& x, const Tensor& memory, const Sight& sees) const {
        return attend(x, sees.with_means(k_proj(memory)), sees.with_means(v_proj(memory)), sees);
    }

    // Decoding: the keys and values of x join the cache, then x looks at what `sees` allows of it.
    Tensor operator()(const Tensor& x, KvCache& cache, const Sight& sees) const {
        cache.append(k_proj(x), v_proj(x));
        return attend(x, cache.keys(), cache.values(), sees);
    }

    // Keys and values computed before (the memory of a translation stays the same at every step),
    // with their means.
    Tensor attend(const Tensor& x, const Tensor& k, const Tensor& v, const Sight& sees) const {
        return out_proj(sees.attend(q_proj(x), k, v, heads, {.dropout = p_drop, .name = name}));
    }

    // Queries, keys and values begin as the one matrix [3d, d] they are together: √(6 / (d + 3d)).
    // Twice the variance makes the first steps of deep post-norm models stall.
    static Init one_of_three() { return xavier(std::sqrt(0.5f)); }

    Linear q_proj, k_proj, v_proj, out_proj;
    std::string name;  // its path in the store: what a Probe knows its calls by
    int heads;
    float p_drop;
};

}  // namespace fovea
