#pragma once
// GPT-2 ("Language Models are Unsupervised Multitask Learners", Radford et al. 2019): a decoder on
// its own, under Hugging Face's parameter names.
//
//   h₀ = wte[token] + wpe[position]
//   a  = h + Attention(LN₁(h))            each token sees itself and what is before it
//   h' = a + W₂ gelu(W₁ LN₂(a) + b₁) + b₂
//   logits = wteᵀ LN_f(h_last)
//
// Where it differs from the Transformer of 2017 (transformer.h): the norm stands before each
// sub-layer and once more at the end (§2.3), positions are learned, gelu is the tanh form.
// Sequences lie end to end ([total_tokens, d] and Segments): there is no padding.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <optional>
#include <span>
#include <vector>

#include "fovea/models/gpt2_config.h"
#include "fovea/models/text_encoder.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/sight.h"

namespace fovea {

struct Gpt2Attention {
    Gpt2Attention(const Gpt2Config& c, int layer, const Params& p);
    // Over whole sequences, and over a cache that the keys and values of x join.
    Tensor operator()(const Tensor& x, const Sight& sees) const;
    Tensor operator()(const Tensor& x, KvCache& cache, const Sight& sees) const;

    Linear q, k, v;  // c_attn of the file, which holds the three as one
    Linear c_proj;
    std::string name;  // its path in the store: what a Probe knows its calls by
    int heads;
    float scale, p_drop;

private:
    Tensor mix(const Tensor& x, const Tensor& keys, const Tensor& values, const Sight& sees) const;
};

struct Gpt2Mlp {
    Gpt2Mlp(const Gpt2Config& c, const Params& p);
    Tensor operator()(const Tensor& x) const { return feed_forward(x, c_fc, c_proj, act); }

    Linear c_fc, c_proj;
    Act act;
};

struct Gpt2Block {
    Gpt2Block(const Gpt2Config& c, int layer, const Params& p);
    Tensor operator()(const Tensor& x, const Sight& sees, KvCache* cache = nullptr) const;

    LayerNorm ln_1;
    Gpt2Attention attn;
    LayerNorm ln_2;
    Gpt2Mlp mlp;
    float p_drop;
};

struct Gpt2 {
    static constexpr const char* model_type = "gpt2";

    Gpt2(const Gpt2Config& c, const Params& p);

    Tensor operator()(const TokenBatch& batch) const;  // [total tokens, n_embd], after ln_f
    // The same for rows that sequences gain; one cache a layer.
    Tensor step(const NextTokens& next, std::span<KvCache> caches) const;

    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules();
    static std::string architecture(Head head);
    static constexpr HeadParameters heads[] = {
        {"lm_head.weight"}, {"score.weight"}, {"classifier.*"}, {"qa_outputs.*"}};

    Gpt2Config config;
    Tensor wte, wpe;
    std::vector<Gpt2Block> h;
    LayerKinds kinds;  // of each block
    LayerNorm ln_f;

private:
    std::vector<Sight> sights(const Visibility& past) const;  // of each block
    Tensor embed(const Ids& tokens, const Segments& segments, const Positions& at) const;
};

}  // namespace fovea
