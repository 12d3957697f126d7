#pragma once
// Sizes of Whisper (Radford et al. 2022). Fields are named as in Hugging Face's config.json; the
// defaults are whisper-tiny's. Thread-safety: plain values; changing one while reading is not safe.
#include <string>

#include "fovea/base/act.h"
#include "fovea/base/json.h"

namespace fovea {

struct WhisperConfig {
    int vocab_size = 51865;
    int num_mel_bins = 80;
    int d_model = 384;
    int encoder_layers = 4, decoder_layers = 4;  // decoder_layers 0: an encoder alone
    int encoder_attention_heads = 6, decoder_attention_heads = 6;
    int encoder_ffn_dim = 1536, decoder_ffn_dim = 1536;
    int max_source_positions = 1500;  // after the convolutions: two frames each
    int max_target_positions = 448;
    Act activation_function = Act::gelu;
    float dropout = 0, attention_dropout = 0, activation_dropout = 0;
    bool scale_embedding = false;
    int classifier_proj_size = 256;
    int pad_token_id = 50256, bos_token_id = 50256, eos_token_id = 50256;
    int decoder_start_token_id = 50257;

    // The longest sequence of features the encoder takes.
    int max_frames() const { return 2 * max_source_positions; }
    void check(const std::string& where) const;
    static WhisperConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;  // model_type "whisper"
};

}  // namespace fovea
