#include "fovea/models/gpt2_config.h"

#include <cmath>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/models/activation_names.h"
#include "fovea/models/layer_kinds.h"

namespace fovea {
namespace {

// Variants that share the model_type but not the equations: silence would give wrong numbers.
void refuse_gpt2_variants(JsonFields& f) {
    bool cross_attention = false, encoder_decoder = false;
    f.read("add_cross_attention", cross_attention);
    f.read("is_encoder_decoder", encoder_decoder);
    for (const auto& [set, name] : {std::pair{cross_attention, "add_cross_attention"},
                                    {encoder_decoder, "is_encoder_decoder"}})
        if (set)
            fail_with(ErrorKind::bad_input,
                      "a GPT-2 that looks at an encoder is not supported: take one on its own",
                      f.where(), ": \"", name, "\" is true");
    for (const char* name : {"pruned_heads", "quantization_config"})
        if (f.has(name) && !f.json()[name].empty())
            fail_with(ErrorKind::bad_input,
                      "load the whole model in transformers and save it again", f.where(), ": \"",
                      name, "\" is set, but such files are not supported");
}

}  // namespace

float Gpt2Config::score_scale(int layer) const {
    const int dk = n_embd / n_head;
    const float scale = scale_attn_weights ? 1.0f / std::sqrt(static_cast<float>(dk)) : 1.0f;
    return scale_attn_by_inverse_layer_idx ? scale / static_cast<float>(layer + 1) : scale;
}

void Gpt2Config::apply_preset(const std::string& name) {
    const auto set = [&](int layers, int width, int heads) {
        n_layer = layers;
        n_embd = width;
        n_head = heads;
    };
    if (name == "tiny")
        set(4, 128, 4);
    else if (name == "small")
        set(6, 384, 6);
    else if (name == "base")
        set(12, 768, 12);
    else if (name == "big")
        set(24, 1024, 16);
    else
        fail_with(ErrorKind::usage, "one of tiny, small, base, big", "no preset \"", name, "\"");
}

void Gpt2Config::check(const std::string& where) const {
    expect_input(n_embd % n_head == 0, where, ": n_embd ", n_embd, " does not split into ", n_head,
                 " heads");
    for (const auto& [id, name] : {std::pair{bos_token_id, "bos_token_id"},
                                   {eos_token_id, "eos_token_id"},
                                   {pad_token_id, "pad_token_id"}})
        expect_input(id < vocab_size, where, ": \"", name, "\" is ", id,
                     ", outside the vocabulary of ", vocab_size);
    if (any_is(attention, LayerView::expanded))
        fail_with(ErrorKind::bad_input, "choose window:W or hybrid:W", where,
                  ": the means of an expanded window would look ahead");
}

Gpt2Config Gpt2Config::from_json(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    refuse_gpt2_variants(f);
    Gpt2Config c;
    std::string act = "gelu_new";
    f.read("vocab_size", c.vocab_size, {1, 1 << 24});
    f.read({"n_positions", "max_position_embeddings"}, c.n_positions, {1, 1 << 24});
    f.read({"n_embd", "hidden_size"}, c.n_embd, {1, 1 << 16});
    f.read({"n_layer", "num_hidden_layers"}, c.n_layer, {1, 512});
    f.read({"n_head", "num_attention_heads"}, c.n_head, {1, 1 << 16});
    f.read("n_inner", c.n_inner, {1, 1 << 20});
    f.read("activation_function", act);
    f.read("resid_pdrop", c.resid_pdrop, {0, 1});
    f.read("embd_pdrop", c.embd_pdrop, {0, 1});
    f.read("attn_pdrop", c.attn_pdrop, {0, 1});
    f.read({"classifier_dropout", "hidden_dropout"}, c.classifier_dropout, {0, 1});
    f.read("layer_norm_epsilon", c.layer_norm_epsilon, {1e-30, 1});
    f.read("initializer_range", c.initializer_range, {0, 10});
    f.read("scale_attn_weights", c.scale_attn_weights);
    f.read("scale_attn_by_inverse_layer_idx", c.scale_attn_by_inverse_layer_idx);
    f.read("tie_word_embeddings", c.tie_word_embeddings);
    // reorder_and_upcast_attn asks for scores in f32, which they are here anyway.
    // The class's defaults are ids of the published vocabulary; a smaller one has none unless said.
    if (c.vocab_size <= c.eos_token_id) c.bos_token_id = c.eos_token_id = -1;
    f.read("bos_token_id", c.bos_token_id, {-1, 1 << 24});
    if (std::vector<int> ends; f.has("eos_token_id") && json["eos_token_id"].is_array()) {
        f.read("eos_token_id", ends, {0, 1 << 24});
        if (!ends.empty()) c.eos_token_id = ends[0];
    } else {
        f.read("eos_token_id", c.eos_token_id, {-1, 1 << 24});
    }
    f.read("pad_token_id", c.pad_token_id, {-1, 1 << 24});
    c.activation_function = activation_named(act, "activation_function", where);
    c.attention = layer_kinds_in(f, "attention", c.n_layer, where);
    c.check(where);
    return c;
}

Json Gpt2Config::to_json() const {
    Json j;
    j["model_type"] = "gpt2";
    j["vocab_size"] = vocab_size;
    j["n_positions"] = n_positions;
    j["n_embd"] = n_embd;
    j["n_layer"] = n_layer;
    j["n_head"] = n_head;
    j["n_inner"] = n_inner > 0 ? Json(n_inner) : Json(nullptr);
    j["activation_function"] = config_name_of(activation_function);
    j["resid_pdrop"] = resid_pdrop;
    j["embd_pdrop"] = embd_pdrop;
    j["attn_pdrop"] = attn_pdrop;
    j["classifier_dropout"] = classifier_dropout;
    j["layer_norm_epsilon"] = layer_norm_epsilon;
    j["initializer_range"] = initializer_range;
    j["scale_attn_weights"] = scale_attn_weights;
    j["scale_attn_by_inverse_layer_idx"] = scale_attn_by_inverse_layer_idx;
    j["tie_word_embeddings"] = tie_word_embeddings;
    if (!all_global(attention)) j["attention"] = name_of(attention);
    // Written even where there is none: the reader's own defaults lie outside a small vocabulary.
    for (const auto& [name, id] : {std::pair{"bos_token_id", bos_token_id},
                                   {"eos_token_id", eos_token_id},
                                   {"pad_token_id", pad_token_id}})
        j[name] = id >= 0 ? Json(id) : Json(nullptr);
    return j;
}

}  // namespace fovea
