#include "fovea/models/bert_config.h"

#include "fovea/base/json_fields.h"
#include "fovea/models/activation_names.h"
#include "fovea/models/text_encoder.h"

namespace fovea {
namespace {

// Variants of BERT in the wild whose arithmetic is another.
void refuse_variants(JsonFields& f) {
    const auto refuse = [&](const char* key, const std::string& value, const char* hint) {
        fail_with(ErrorKind::bad_input, hint, f.where(), ": \"", key, "\" is ", value,
                  ", which Fovea's encoder does not have");
    };
    std::string positions = "absolute";
    f.read("position_embedding_type", positions);
    if (positions != "absolute")
        refuse("position_embedding_type", "\"" + positions + "\"",
               "only the learned absolute positions of the paper are known");
    for (const char* key : {"is_decoder", "add_cross_attention", "is_encoder_decoder"}) {
        bool on = false;
        f.read(key, on);
        if (on) refuse(key, "true", "only the encoder is known, which looks both ways");
    }
    if (f.has("pruned_heads") && !f.json()["pruned_heads"].empty())
        refuse("pruned_heads", f.json()["pruned_heads"].dump(),
               "only models with all of their heads are known");
    if (f.has("quantization_config"))
        refuse("quantization_config", "set", "take the checkpoint before it was quantised");
}

}  // namespace

void BertConfig::apply(const EncoderChoice& choice) {
    const auto set = [&](int layers, int width) {
        num_hidden_layers = layers;
        hidden_size = width;
        intermediate_size = 4 * width;
        num_attention_heads = width / 64;
    };
    if (choice.preset == "tiny")
        set(2, 128);
    else if (choice.preset == "small")
        set(4, 256);
    else if (choice.preset == "base")
        set(12, 768);
    else if (choice.preset == "big")
        set(24, 1024);
    else
        fail_with(ErrorKind::usage, "one of tiny, small, base, big", "no preset \"", choice.preset,
                  "\"");
    if (choice.layers) num_hidden_layers = *choice.layers;
    if (choice.width) hidden_size = *choice.width;
    if (choice.ffn) intermediate_size = *choice.ffn;
    if (choice.heads) num_attention_heads = *choice.heads;
    if (choice.dropout) hidden_dropout_prob = attention_probs_dropout_prob = *choice.dropout;
    if (hidden_size % num_attention_heads != 0)
        fail_with(ErrorKind::usage, "choose --heads that divide --d-model", "--heads is ",
                  num_attention_heads, ", but --d-model ", hidden_size,
                  " does not split into so many");
    vocab_size = choice.vocabulary;
    pad_token_id = choice.pad_token;
    max_position_embeddings = choice.max_length;
}

void BertConfig::check(const std::string& where, ErrorKind kind) const {
    const auto within = [&](int n, const char* key, int most) {
        if (n < 1 || n > most)
            fail_with(kind, "", where, ": \"", key, "\" is ", n, " but must be between 1 and ",
                      most);
    };
    within(vocab_size, "vocab_size", 1 << 24);
    within(hidden_size, "hidden_size", 1 << 16);
    within(num_hidden_layers, "num_hidden_layers", 512);
    within(num_attention_heads, "num_attention_heads", hidden_size);
    within(intermediate_size, "intermediate_size", 1 << 20);
    within(max_position_embeddings, "max_position_embeddings", 1 << 20);
    within(type_vocab_size, "type_vocab_size", 1 << 10);
    if (hidden_size % num_attention_heads != 0)
        fail_with(kind, "", where, ": \"hidden_size\" ", hidden_size, " does not split into ",
                  num_attention_heads, " heads");
    if (max_length() < 1)
        fail_with(kind, "", where, ": positions begin at ", first_position,
                  " (\"pad_token_id\" + 1), but \"max_position_embeddings\" is ",
                  max_position_embeddings);
}

void BertConfig::check_tied(const std::string& where) const {
    if (!tie_word_embeddings)
        fail_with(ErrorKind::bad_input, "only a decoder tied to the word embeddings is known",
                  where, ": \"tie_word_embeddings\" is false");
}

void BertConfig::read(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    refuse_variants(f);
    std::string act = config_name_of(hidden_act);
    f.read("vocab_size", vocab_size);
    f.read("hidden_size", hidden_size);
    f.read("num_hidden_layers", num_hidden_layers);
    f.read("num_attention_heads", num_attention_heads);
    f.read("intermediate_size", intermediate_size);
    f.read("max_position_embeddings", max_position_embeddings);
    f.read("type_vocab_size", type_vocab_size);
    f.read("hidden_act", act);
    const NumberRange share{0, 0.999};
    f.read("hidden_dropout_prob", hidden_dropout_prob, share);
    f.read("attention_probs_dropout_prob", attention_probs_dropout_prob, share);
    if (double p = 0; f.read("classifier_dropout", p, share)) classifier_dropout = p;
    f.read("layer_norm_eps", layer_norm_eps, {1e-30, 1});
    f.read("initializer_range", initializer_range, {0, 100});
    f.read("tie_word_embeddings", tie_word_embeddings);
    f.read("pad_token_id", pad_token_id, {0, 1 << 24});
    hidden_act = activation_named(act, "hidden_act", where);
}

Json BertConfig::to_json(const char* model_type) const {
    Json j;
    j["model_type"] = model_type;
    j["vocab_size"] = vocab_size;
    j["hidden_size"] = hidden_size;
    j["num_hidden_layers"] = num_hidden_layers;
    j["num_attention_heads"] = num_attention_heads;
    j["intermediate_size"] = intermediate_size;
    j["hidden_act"] = config_name_of(hidden_act);
    j["hidden_dropout_prob"] = hidden_dropout_prob;
    j["attention_probs_dropout_prob"] = attention_probs_dropout_prob;
    j["classifier_dropout"] = classifier_dropout ? Json(*classifier_dropout) : Json();
    j["max_position_embeddings"] = max_position_embeddings;
    j["type_vocab_size"] = type_vocab_size;
    j["layer_norm_eps"] = layer_norm_eps;
    j["initializer_range"] = initializer_range;
    j["tie_word_embeddings"] = tie_word_embeddings;
    j["position_embedding_type"] = "absolute";
    j["pad_token_id"] = pad_token_id;
    return j;
}

}  // namespace fovea
