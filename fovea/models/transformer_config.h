#pragma once
// Sizes and choices of the encoder-decoder Transformer. Fields are named as in Hugging Face's
// config.json for Marian and BART; the defaults are the base model of Vaswani et al. 2017.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <string>

#include "fovea/base/json.h"
#include "fovea/nn/attention_kind.h"
#include "fovea/nn/positions.h"
#include "fovea/ops/linear.h"

namespace fovea {

struct TransformerConfig {
    int vocab_size = 37000;
    int decoder_vocab_size = 0;  // 0: the same vocabulary on both sides
    int d_model = 512;
    int encoder_layers = 6;
    int decoder_layers = 6;
    int encoder_attention_heads = 8;
    int decoder_attention_heads = 8;
    int encoder_ffn_dim = 2048;
    int decoder_ffn_dim = 2048;
    int max_position_embeddings = 1024;
    Act activation_function = Act::relu;
    float dropout = 0.1f;
    float attention_dropout = 0.0f;
    float activation_dropout = 0.0f;
    float layer_norm_eps = 1e-5f;
    bool scale_embedding = true;       // embeddings times √d, §3.4
    bool normalize_before = false;     // pre-norm: x + f(LayerNorm(x)), with a final norm per stack
    bool normalize_embedding = false;  // BART: a LayerNorm after the embeddings
    bool share_encoder_decoder_embeddings = true;
    bool tie_word_embeddings = true;  // the output projection is the decoder's embedding
    bool final_logits_bias = false;   // a bias on the logits, as Marian and BART files have it
    PositionCode positions = PositionCode::sinusoidal;
    int position_offset = 0;         // BART's learned table begins with two unused rows
    int max_relative_position = 16;  // relative: differences beyond it share one vector

    // How the layers look at their own sequence and at the source (nn/attention_kind.h); empty:
    // global. One for all layers, or one a layer.
    LayerKinds encoder_attention{}, decoder_attention{}, cross_attention{};
    // k of wait-k reading (Ma et al. 2019): the encoder reads left to right, and the row that tells
    // target token t (from 0) sees the first t + k source tokens. 0: the source is read whole.
    int wait_k = 0;

    int pad_token_id = 0;  // never fed to the model; kept for the file's sake
    int bos_token_id = -1;
    int eos_token_id = 1;
    int decoder_start_token_id = 0;

    bool looks_everywhere() const {  // the paper's own attention
        return all_global(encoder_attention) && all_global(decoder_attention) &&
               all_global(cross_attention) && wait_k == 0;
    }
    int target_vocab() const { return decoder_vocab_size > 0 ? decoder_vocab_size : vocab_size; }

    // tiny | small | base | big; vocabulary and special ids are left alone.
    void apply_preset(const std::string& name);
    void check(const std::string& where) const;  // sizes that cannot be are one clear error
    void check_attention(const std::string& where) const;  // the part of it about attention

    // model_type marian, bart or fovea_transformer (our own, which can say everything).
    static TransformerConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;         // as fovea_transformer
    Json to_marian_json() const;  // only where fits_marian()
    bool fits_marian() const;     // can Marian's layout express this model?
};

}  // namespace fovea
