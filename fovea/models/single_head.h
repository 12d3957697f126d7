#pragma once
// The smallest model with attention: word vectors, and one self-attention over them. A row is what
// its word gathers from the whole text:
//
//   x = E[w]      q, k, v = x W_q, x W_k, x W_v      row = softmax(q kᵀ / √d) v
//
// There are no positions: words are a set, but each is read in the light of the others. More heads
// split the same columns (Vaswani et al. 2017, §3.2.2, without W^O).
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/models/word_model.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct SingleHeadConfig : WordModelConfig {
    int num_attention_heads = 1;

    static SingleHeadConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
};

struct SingleHead {
    static constexpr const char* model_type = "fovea_single_head";
    static constexpr std::string_view sizes = "d-model hidden heads";

    SingleHead(const SingleHeadConfig& c, const Params& p);
    Tensor operator()(const TokenBatch& batch) const;  // [total, hidden_size]

    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules() { return {}; }

    SingleHeadConfig config;
    WordTable embeddings;
    Linear q_proj, k_proj, v_proj;
};

}  // namespace fovea
