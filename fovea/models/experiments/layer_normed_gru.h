#pragma once
// A GRU whose sums are normed (Ba et al. 2016, §3.1), reading the words both ways like `rnn`, to be
// compared with it:
//
//   a_t = LN(x_t W_ihᵀ)        z_t = LN(h_{t−1} W_hhᵀ)         each over the three gates together
//   r = σ(a_r + z_r)   u = σ(a_u + z_u)   n = tanh(a_n + r ∘ z_n)   h_t = n + u ∘ (h_{t−1} − n)
//
// Composed of small ops, step by step: slower than ops/recurrent.h.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <vector>

#include "fovea/models/recurrent_words.h"
#include "fovea/nn/by_step.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"

namespace fovea {

// One direction of one layer.
struct LayerNormedGru {
    LayerNormedGru(int in, int width, const Params& p);
    // [rows, width], in the order of `x`.
    Tensor operator()(const Tensor& x, const ByStep& steps) const;

    Tensor weight_ih, weight_hh;
    LayerNorm norm_ih, norm_hh;
    int width;

private:
    Tensor step(const Tensor& a, const Tensor& state) const;
};

struct LayerNormedWords {
    static constexpr const char* model_type = "fovea_gru_layer_norm_words";

    LayerNormedWords(const RecurrentWordsConfig& c, const Params& p);
    Tensor operator()(const TokenBatch& batch) const;  // [total, 2 · hidden_size]

    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules() { return {}; }

    RecurrentWordsConfig config;
    WordTable embeddings;
    struct Layer {
        LayerNormedGru forwards, backwards;
    };
    std::vector<Layer> layers;
};

}  // namespace fovea
