#include "fovea/models/transformer_config.h"

#include "fovea/base/json_fields.h"
#include "fovea/models/activation_names.h"
#include "fovea/models/layer_kinds.h"

namespace fovea {
namespace {

PositionCode positions_named(const std::string& name, const std::string& where) {
    try {
        return position_code_of(name);
    } catch (const Error& e) {  // name the file
        throw Error(where + ": " + e.what(), e.kind(), e.hint());
    }
}

}  // namespace

void TransformerConfig::apply_preset(const std::string& name) {
    const auto set = [&](int layers, int width, int ffn, int heads, float drop) {
        encoder_layers = decoder_layers = layers;
        d_model = width;
        encoder_ffn_dim = decoder_ffn_dim = ffn;
        encoder_attention_heads = decoder_attention_heads = heads;
        dropout = drop;
    };
    if (name == "tiny")
        set(4, 128, 256, 4, 0.1f);
    else if (name == "small")
        set(3, 256, 1024, 4, 0.1f);
    else if (name == "base")
        set(6, 512, 2048, 8, 0.1f);
    else if (name == "big")
        set(6, 1024, 4096, 16, 0.3f);
    else
        fail_with(ErrorKind::usage, "one of tiny, small, base, big", "no preset \"", name, "\"");
}

void TransformerConfig::check(const std::string& where) const {
    const auto positive = [&](int n, const char* key, int most) {
        expect_input(n > 0 && n <= most, where, ": \"", key, "\" is ", n,
                     " but must be between 1 and ", most);
    };
    positive(vocab_size, "vocab_size", 1 << 24);
    positive(target_vocab(), "decoder_vocab_size", 1 << 24);
    positive(d_model, "d_model", 1 << 16);
    positive(encoder_layers, "encoder_layers", 512);
    positive(decoder_layers, "decoder_layers", 512);
    positive(encoder_ffn_dim, "encoder_ffn_dim", 1 << 20);
    positive(decoder_ffn_dim, "decoder_ffn_dim", 1 << 20);
    positive(encoder_attention_heads, "encoder_attention_heads", d_model);
    positive(decoder_attention_heads, "decoder_attention_heads", d_model);
    positive(max_position_embeddings, "max_position_embeddings", 1 << 24);
    for (const int heads : {encoder_attention_heads, decoder_attention_heads})
        expect_input(d_model % heads == 0, where, ": d_model ", d_model, " does not split into ",
                     heads, " heads");
    expect_input(!share_encoder_decoder_embeddings || target_vocab() == vocab_size, where,
                 ": one embedding for both sides needs one vocabulary, but there are ", vocab_size,
                 " and ", target_vocab(), " tokens");
    positive(max_relative_position, "max_relative_position", 1 << 16);
    for (const int heads : {encoder_attention_heads, decoder_attention_heads})
        expect_input(positions != PositionCode::rotary || d_model / heads % 2 == 0, where,
                     ": rotary positions turn pairs of columns, but a head has ", d_model / heads);
    check_attention(where);
    for (const int id : {eos_token_id, decoder_start_token_id})
        expect_input(id >= 0 && id < target_vocab(), where, ": special token id ", id,
                     " lies outside the vocabulary of ", target_vocab());
}

void TransformerConfig::check_attention(const std::string& where) const {
    expect_input(wait_k >= 0 && wait_k <= 1 << 20, where, ": \"wait_k\" is ", wait_k,
                 " but must be between 0 (off) and ", 1 << 20);
    const LayerView expanded = LayerView::expanded;
    if (any_is(decoder_attention, expanded))
        fail_with(ErrorKind::bad_input, "choose window:W or hybrid:W for the decoder", where,
                  ": an expanded window looks both ways, but a decoder only back");
    if (any_is(encoder_attention, expanded) && positions == PositionCode::relative)
        fail_with(ErrorKind::bad_input, "choose another position code", where,
                  ": the means of an expanded window stand at no place, but relative positions "
                  "need one");
    if (wait_k > 0 && (any_is(encoder_attention, expanded) || any_is(cross_attention, expanded)))
        fail_with(ErrorKind::bad_input, "choose window:W or hybrid:W", where,
                  ": an expanded window looks ahead, but wait-k reads the source step by step");
}

TransformerConfig TransformerConfig::from_json(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    TransformerConfig c;
    std::string type = "marian", act = "relu", positions;
    f.read("model_type", type);
    if (type == "marian") {  // the class defaults of that model, where the file is silent
        act = "gelu";
        c.scale_embedding = false;
        c.positions = PositionCode::halves;
        c.vocab_size = 58101;
        c.d_model = 1024;
        c.encoder_layers = c.decoder_layers = 12;
        c.encoder_ffn_dim = c.decoder_ffn_dim = 4096;
        c.encoder_attention_heads = c.decoder_attention_heads = 16;
        c.pad_token_id = c.decoder_start_token_id = 58100;
        c.eos_token_id = 0;
        c.final_logits_bias = true;
    } else if (type == "bart") {
        act = "gelu";
        c.scale_embedding = false;
        c.normalize_embedding = true;
        c.positions = PositionCode::learned;
        c.position_offset = 2;
        c.vocab_size = 50265;
        c.d_model = 1024;
        c.encoder_layers = c.decoder_layers = 12;
        c.encoder_ffn_dim = c.decoder_ffn_dim = 4096;
        c.encoder_attention_heads = c.decoder_attention_heads = 16;
        c.pad_token_id = 1;
        c.bos_token_id = 0;
        c.eos_token_id = c.decoder_start_token_id = 2;
        c.final_logits_bias = true;
    } else {
        expect_input(type == "fovea_transformer", where, ": \"model_type\" is \"", type,
                     "\" but an encoder-decoder (marian, bart, fovea_transformer) is wanted");
    }
    f.read("vocab_size", c.vocab_size, {1});
    f.read("decoder_vocab_size", c.decoder_vocab_size, {0});
    f.read("d_model", c.d_model, {1});
    f.read("encoder_layers", c.encoder_layers, {1});
    f.read("decoder_layers", c.decoder_layers, {1});
    f.read("encoder_attention_heads", c.encoder_attention_heads, {1});
    f.read("decoder_attention_heads", c.decoder_attention_heads, {1});
    f.read("encoder_ffn_dim", c.encoder_ffn_dim, {1});
    f.read("decoder_ffn_dim", c.decoder_ffn_dim, {1});
    f.read("max_position_embeddings", c.max_position_embeddings, {1});
    f.read("activation_function", act);
    f.read("dropout", c.dropout, {0, 1});
    f.read("attention_dropout", c.attention_dropout, {0, 1});
    f.read("activation_dropout", c.activation_dropout, {0, 1});
    f.read("layer_norm_eps", c.layer_norm_eps, {1e-30, 1});
    f.read("scale_embedding", c.scale_embedding);
    f.read("normalize_before", c.normalize_before);
    f.read("normalize_embedding", c.normalize_embedding);
    f.read("share_encoder_decoder_embeddings", c.share_encoder_decoder_embeddings);
    f.read("tie_word_embeddings", c.tie_word_embeddings);
    f.read("final_logits_bias", c.final_logits_bias);
    f.read("position_embedding_type", positions);
    f.read("position_offset", c.position_offset, {0, 1024});
    f.read("max_relative_position", c.max_relative_position, {1});
    c.encoder_attention = layer_kinds_in(f, "encoder_self_attention", c.encoder_layers, where);
    c.decoder_attention = layer_kinds_in(f, "decoder_self_attention", c.decoder_layers, where);
    c.cross_attention = layer_kinds_in(f, "cross_attention", c.decoder_layers, where);
    f.read("wait_k", c.wait_k, {0});
    f.read("pad_token_id", c.pad_token_id, {0});
    f.read("bos_token_id", c.bos_token_id, {-1});
    f.read("eos_token_id", c.eos_token_id, {0});
    c.decoder_start_token_id = type == "bart" ? c.eos_token_id : c.pad_token_id;
    f.read("decoder_start_token_id", c.decoder_start_token_id, {0});
    c.activation_function = activation_named(act, "activation_function", where);
    if (type == "fovea_transformer" && !positions.empty())
        c.positions = positions_named(positions, where);
    c.check(where);
    return c;
}

Json TransformerConfig::to_json() const {
    Json j;
    j["architectures"] = {"FoveaTransformer"};
    j["model_type"] = "fovea_transformer";
    j["vocab_size"] = vocab_size;
    j["decoder_vocab_size"] = target_vocab();
    j["d_model"] = d_model;
    j["encoder_layers"] = encoder_layers;
    j["decoder_layers"] = decoder_layers;
    j["encoder_attention_heads"] = encoder_attention_heads;
    j["decoder_attention_heads"] = decoder_attention_heads;
    j["encoder_ffn_dim"] = encoder_ffn_dim;
    j["decoder_ffn_dim"] = decoder_ffn_dim;
    j["max_position_embeddings"] = max_position_embeddings;
    j["activation_function"] = config_name_of(activation_function);
    j["dropout"] = dropout;
    j["attention_dropout"] = attention_dropout;
    j["activation_dropout"] = activation_dropout;
    j["layer_norm_eps"] = layer_norm_eps;
    j["scale_embedding"] = scale_embedding;
    j["normalize_before"] = normalize_before;
    j["normalize_embedding"] = normalize_embedding;
    j["share_encoder_decoder_embeddings"] = share_encoder_decoder_embeddings;
    j["tie_word_embeddings"] = tie_word_embeddings;
    j["final_logits_bias"] = final_logits_bias;
    j["position_embedding_type"] = name_of(positions);
    j["position_offset"] = position_offset;
    if (positions == PositionCode::relative) j["max_relative_position"] = max_relative_position;
    // Only what is not the paper's own: plain models keep their files.
    const auto say = [&](const char* key, const LayerKinds& kinds) {
        if (!all_global(kinds)) j[key] = fovea::name_of(kinds);
    };
    say("encoder_self_attention", encoder_attention);
    say("decoder_self_attention", decoder_attention);
    say("cross_attention", cross_attention);
    if (wait_k > 0) j["wait_k"] = wait_k;
    j["pad_token_id"] = pad_token_id;
    if (bos_token_id >= 0) j["bos_token_id"] = bos_token_id;
    j["eos_token_id"] = eos_token_id;
    j["decoder_start_token_id"] = decoder_start_token_id;
    j["is_encoder_decoder"] = true;
    return j;
}

bool TransformerConfig::fits_marian() const {
    return looks_everywhere() && !normalize_before && !normalize_embedding &&
           layer_norm_eps == 1e-5f && tie_word_embeddings &&
           decoder_start_token_id == pad_token_id &&
           (positions == PositionCode::sinusoidal || positions == PositionCode::halves);
}

Json TransformerConfig::to_marian_json() const {
    expect(fits_marian(), "config: this model cannot be written in Marian's layout");
    Json j = to_json();
    for (const char* ours : {"layer_norm_eps", "normalize_embedding", "normalize_before",
                             "final_logits_bias", "position_embedding_type", "position_offset"})
        j.erase(ours);
    j["architectures"] = {"MarianMTModel"};
    j["model_type"] = "marian";
    j["static_position_embeddings"] = true;
    j["num_hidden_layers"] = encoder_layers;
    j["forced_eos_token_id"] = eos_token_id;
    j["use_cache"] = true;
    return j;
}

}  // namespace fovea
