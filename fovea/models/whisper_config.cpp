#include "fovea/models/whisper_config.h"

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/models/activation_names.h"

namespace fovea {

void WhisperConfig::check(const std::string& where) const {
    const auto within = [&](int n, const char* key, int least, int most) {
        expect_input(n >= least && n <= most, where, ": \"", key, "\" is ", n,
                     " but must be between ", least, " and ", most);
    };
    within(vocab_size, "vocab_size", 1, 1 << 24);
    within(num_mel_bins, "num_mel_bins", 1, 1024);
    within(d_model, "d_model", 4, 1 << 16);
    within(encoder_layers, "encoder_layers", 1, 512);
    within(decoder_layers, "decoder_layers", 0, 512);
    within(encoder_ffn_dim, "encoder_ffn_dim", 1, 1 << 20);
    within(decoder_ffn_dim, "decoder_ffn_dim", 1, 1 << 20);
    within(encoder_attention_heads, "encoder_attention_heads", 1, d_model);
    within(decoder_attention_heads, "decoder_attention_heads", 1, d_model);
    within(max_source_positions, "max_source_positions", 1, 1 << 17);
    within(max_target_positions, "max_target_positions", 1, 1 << 17);
    within(classifier_proj_size, "classifier_proj_size", 1, 1 << 16);
    expect_input(d_model % 2 == 0, where, ": \"d_model\" is ", d_model, " but must be even");
    for (const int heads : {encoder_attention_heads, decoder_attention_heads})
        expect_input(d_model % heads == 0, where, ": d_model ", d_model, " does not split into ",
                     heads, " heads");
}

WhisperConfig WhisperConfig::from_json(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    WhisperConfig c;
    std::string act = "gelu";
    f.read("vocab_size", c.vocab_size);
    f.read("num_mel_bins", c.num_mel_bins);
    f.read("d_model", c.d_model);
    f.read("encoder_layers", c.encoder_layers);
    f.read("decoder_layers", c.decoder_layers);
    f.read("encoder_attention_heads", c.encoder_attention_heads);
    f.read("decoder_attention_heads", c.decoder_attention_heads);
    f.read("encoder_ffn_dim", c.encoder_ffn_dim);
    f.read("decoder_ffn_dim", c.decoder_ffn_dim);
    f.read("max_source_positions", c.max_source_positions);
    f.read("max_target_positions", c.max_target_positions);
    f.read("activation_function", act);
    f.read("dropout", c.dropout, {0, 1});
    f.read("attention_dropout", c.attention_dropout, {0, 1});
    f.read("activation_dropout", c.activation_dropout, {0, 1});
    f.read("scale_embedding", c.scale_embedding);
    f.read("classifier_proj_size", c.classifier_proj_size);
    f.read("pad_token_id", c.pad_token_id);
    f.read("bos_token_id", c.bos_token_id);
    f.read("eos_token_id", c.eos_token_id);
    f.read("decoder_start_token_id", c.decoder_start_token_id);
    c.activation_function = activation_named(act, "activation_function", where);
    bool weighted = false;
    f.read("use_weighted_layer_sum", weighted);
    if (weighted)
        fail_with(ErrorKind::bad_input, "only heads on the last layer are known", where,
                  ": \"use_weighted_layer_sum\" is true, which Fovea's Whisper does not have");
    c.check(where);
    return c;
}

Json WhisperConfig::to_json() const {
    return {{"model_type", "whisper"},
            {"vocab_size", vocab_size},
            {"num_mel_bins", num_mel_bins},
            {"d_model", d_model},
            {"encoder_layers", encoder_layers},
            {"decoder_layers", decoder_layers},
            {"encoder_attention_heads", encoder_attention_heads},
            {"decoder_attention_heads", decoder_attention_heads},
            {"encoder_ffn_dim", encoder_ffn_dim},
            {"decoder_ffn_dim", decoder_ffn_dim},
            {"max_source_positions", max_source_positions},
            {"max_target_positions", max_target_positions},
            {"activation_function", config_name_of(activation_function)},
            {"dropout", dropout},
            {"attention_dropout", attention_dropout},
            {"activation_dropout", activation_dropout},
            {"scale_embedding", scale_embedding},
            {"classifier_proj_size", classifier_proj_size},
            {"pad_token_id", pad_token_id},
            {"bos_token_id", bos_token_id},
            {"eos_token_id", eos_token_id},
            {"decoder_start_token_id", decoder_start_token_id},
            {"is_encoder_decoder", true}};
}

}  // namespace fovea
