#include "fovea/models/transformer.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/models/transformer_encoder.h"

namespace fovea {
namespace {

// config.json without the decoder's half.
Json encoder_json(const TransformerConfig& c) {
    Json j = c.to_json();
    for (const char* decoder :
         {"decoder_vocab_size", "decoder_layers", "decoder_attention_heads", "decoder_ffn_dim",
          "decoder_start_token_id", "share_encoder_decoder_embeddings", "tie_word_embeddings",
          "final_logits_bias", "is_encoder_decoder", "decoder_self_attention", "cross_attention"})
        j.erase(decoder);
    j["architectures"] = {"FoveaTransformerEncoder"};
    j["model_type"] = TransformerEncoder::model_type;
    return j;
}

}  // namespace

TransformerConfig transformer_encoder_config(Json json, const std::string& where) {
    json["model_type"] = "fovea_transformer";
    for (const char* size : {"layers", "attention_heads", "ffn_dim"}) {
        const std::string encoder = std::string("encoder_") + size;
        if (json.contains(encoder)) json[std::string("decoder_") + size] = json[encoder];
    }
    return TransformerConfig::from_json(json, where);
}

TextEncoder transformer_text_encoder(const TransformerConfig& c,
                                     std::function<Tensor(const TokenBatch&)> rows) {
    TextEncoder e;
    e.width = c.d_model;
    e.vocabulary = c.vocab_size;
    e.max_length = c.max_position_embeddings;
    e.layers = c.encoder_layers;
    e.dropout = c.dropout;
    e.rows = std::move(rows);
    e.layer_of = [last = e.layers + 1](std::string_view name) {
        if (!name.starts_with("model.encoder.") || name.starts_with("model.encoder.layer_norm."))
            return last;  // a head, or the norm above the blocks
        return numbered_layer(name, "model.encoder.layers.");
    };
    return e;
}

TransformerEncoder::TransformerEncoder(const TransformerConfig& c, const Params& p)
    : config(c),
      embed_tokens(p.get("model.encoder.embed_tokens.weight", {c.vocab_size, c.d_model},
                         normal(1.0f / std::sqrt(static_cast<float>(c.d_model))))),
      encoder(c, embed_tokens, p / "model" / "encoder") {}

Json TransformerEncoder::new_config(const EncoderChoice& choice) {
    TransformerConfig c;
    c.apply_preset(choice.preset);
    if (choice.layers) c.encoder_layers = c.decoder_layers = *choice.layers;
    if (choice.width) c.d_model = *choice.width;
    if (choice.ffn) c.encoder_ffn_dim = c.decoder_ffn_dim = *choice.ffn;
    if (choice.heads) c.encoder_attention_heads = c.decoder_attention_heads = *choice.heads;
    if (choice.dropout) c.dropout = *choice.dropout;
    if (c.d_model % c.encoder_attention_heads != 0)
        fail_with(ErrorKind::usage, "choose --heads that divide --d-model", "--heads is ",
                  c.encoder_attention_heads, ", but --d-model ", c.d_model,
                  " does not split into so many");
    c.vocab_size = choice.vocabulary;
    c.max_position_embeddings = choice.max_length;
    c.pad_token_id = c.decoder_start_token_id = choice.pad_token;
    c.eos_token_id = choice.end_token;
    return encoder_json(c);
}

TextEncoder TransformerEncoder::make(const Json& config, const std::string& where,
                                     const HeadChoice&, const Params& p) {
    const auto model =
        std::make_shared<const TransformerEncoder>(transformer_encoder_config(config, where), p);
    return transformer_text_encoder(model->config,
                                    [model](const TokenBatch& batch) { return (*model)(batch); });
}

}  // namespace fovea
