#include "fovea/models/experiments/transformer_variants.h"

#include <cmath>
#include <memory>

#include "fovea/models/transformer_encoder.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"

namespace fovea {
namespace {

Tensor token_table(const TransformerConfig& c, const Params& p) {
    return p.get("embed_tokens.weight", {c.vocab_size, c.d_model},
                 normal(1.0f / std::sqrt(static_cast<float>(c.d_model))));
}

}  // namespace

BatchNormedLayer::BatchNormedLayer(const TransformerConfig& c, const Params& p)
    : self_attn(c.d_model, c.encoder_attention_heads,
                {.positions = c.positions,
                 .clip = c.max_relative_position,
                 .dropout = c.attention_dropout},
                p / "self_attn"),
      self_attn_batch_norm(c.d_model, p / "self_attn_batch_norm"),
      feed_forward(c.d_model, c.encoder_ffn_dim, c.activation_function, c.activation_dropout, p),
      final_batch_norm(c.d_model, p / "final_batch_norm"),
      p_drop(c.dropout) {}

Tensor BatchNormedLayer::operator()(const Tensor& x, const Segments& segments,
                                    const Sight& sees) const {
    const Tensor h = self_attn_batch_norm(x + dropout(self_attn(x, segments, sees), p_drop));
    return final_batch_norm(h + dropout(feed_forward(h), p_drop));
}

Tensor PlainLayer::operator()(const Tensor& x, const Segments& segments, const Sight& sees) const {
    const Tensor h =
        parts.self_attn_layer_norm.norm(dropout(parts.self_attn(x, segments, sees), p_drop));
    return parts.final_layer_norm.norm(dropout(parts.feed_forward(h), p_drop));
}

Tensor UnscaledLayer::operator()(const Tensor& x, const Segments&, const Sight& sees) const {
    const SelfAttention& a = parts.self_attn;
    const auto attend = [&](const Tensor& y) {
        return a.out_proj(sees.attend(a.q_proj(y), a.k_proj(y), a.v_proj(y), a.heads,
                                      {.scale = 1.0f, .dropout = a.p_drop, .name = a.name}));
    };
    return parts.final_layer_norm(parts.self_attn_layer_norm(x, attend), parts.feed_forward);
}

template <class Layer>
TransformerVariant<Layer>::TransformerVariant(const TransformerConfig& c, const Params& p)
    : config(c), embedding(c, token_table(c, p / "model" / "encoder"), p / "model" / "encoder") {
    for (int i = 0; i < c.encoder_layers; ++i)
        layers.emplace_back(c, p / "model" / "encoder" / "layers" / i);
}

template <class Layer>
Tensor TransformerVariant<Layer>::operator()(const TokenBatch& batch) const {
    Tensor x = embedding(batch.tokens, batch.segments);
    const Sight sees = everything(batch.segments, batch.segments);
    for (const Layer& layer : layers) x = layer(x, batch.segments, sees);
    return x;
}

template <class Layer>
Json TransformerVariant<Layer>::new_config(const EncoderChoice& choice) {
    Json config = TransformerEncoder::new_config(choice);
    config.erase("architectures");
    config["model_type"] = model_type;
    return config;
}

template <class Layer>
TextEncoder TransformerVariant<Layer>::make(const Json& config, const std::string& where,
                                            const HeadChoice&, const Params& p) {
    const auto model =
        std::make_shared<const TransformerVariant>(transformer_encoder_config(config, where), p);
    return transformer_text_encoder(model->config,
                                    [model](const TokenBatch& batch) { return (*model)(batch); });
}

template struct TransformerVariant<BatchNormedLayer>;
template struct TransformerVariant<PlainLayer>;
template struct TransformerVariant<UnscaledLayer>;

}  // namespace fovea
