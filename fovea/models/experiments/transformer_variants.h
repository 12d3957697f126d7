#pragma once
// The Transformer's encoder with one thing changed, to see what that thing is for (the tables are
// in docs/attention.md). Each changed block is written out here: the paper's own (transformer.h)
// knows nothing of it.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <vector>

#include "fovea/models/transformer.h"
#include "fovea/nn/batch_norm.h"

namespace fovea {

// Batch norm (Ioffe & Szegedy 2015) where the paper has layer norm:
//   h = BN(x + Dropout(Attention(x)))      y = BN(h + Dropout(FFN(h)))
// While it trains, a row depends on the others of its batch.
struct BatchNormedLayer {
    static constexpr const char* model_type = "fovea_transformer_batch_norm";

    BatchNormedLayer(const TransformerConfig& c, const Params& p);
    Tensor operator()(const Tensor& x, const Segments& segments, const Sight& sees) const;

    SelfAttention self_attn;
    BatchNorm self_attn_batch_norm;
    FeedForward feed_forward;
    BatchNorm final_batch_norm;
    float p_drop;
};

// No residual connections:  h = LN(Dropout(Attention(x)))      y = LN(Dropout(FFN(h)))
struct PlainLayer {
    static constexpr const char* model_type = "fovea_transformer_plain";

    PlainLayer(const TransformerConfig& c, const Params& p) : parts(c, p), p_drop(c.dropout) {}
    Tensor operator()(const Tensor& x, const Segments& segments, const Sight& sees) const;

    EncoderLayer parts;
    float p_drop;
};

// Scores that are not divided by √d_k:  s_ij = q_i · k_j
struct UnscaledLayer {
    static constexpr const char* model_type = "fovea_transformer_unscaled";

    UnscaledLayer(const TransformerConfig& c, const Params& p) : parts(c, p) {}
    Tensor operator()(const Tensor& x, const Segments& segments, const Sight& sees) const;

    EncoderLayer parts;
};

// The encoder of such layers.
template <class Layer>
struct TransformerVariant {
    static constexpr const char* model_type = Layer::model_type;

    TransformerVariant(const TransformerConfig& c, const Params& p);
    Tensor operator()(const TokenBatch& batch) const;

    static Json new_config(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules() { return {}; }

    TransformerConfig config;
    TokenEmbedding embedding;
    std::vector<Layer> layers;
};

extern template struct TransformerVariant<BatchNormedLayer>;
extern template struct TransformerVariant<PlainLayer>;
extern template struct TransformerVariant<UnscaledLayer>;

}  // namespace fovea
