#pragma once
// Sizes and choices of GPT-2. Fields are named as in Hugging Face's config.json; the defaults are
// the smallest published model (124 million parameters).
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <string>

#include "fovea/base/act.h"
#include "fovea/base/json.h"
#include "fovea/nn/attention_kind.h"

namespace fovea {

struct Gpt2Config {
    int vocab_size = 50257;
    int n_positions = 1024;
    int n_embd = 768;
    int n_layer = 12;
    int n_head = 12;
    int n_inner = 0;  // width inside feed-forward; 0: four times n_embd
    Act activation_function = Act::gelu_tanh;
    float resid_pdrop = 0.1f;
    float embd_pdrop = 0.1f;
    float attn_pdrop = 0.1f;
    float classifier_dropout = 0.1f;  // before the head that labels tokens
    float layer_norm_epsilon = 1e-5f;
    float initializer_range = 0.02f;
    bool scale_attn_weights = true;  // scores times 1/√dk
    bool scale_attn_by_inverse_layer_idx =
        false;  // and by 1 / the layer's number (Mistral's GPT-2)
    bool tie_word_embeddings = true;
    int bos_token_id = 50256;
    int eos_token_id = 50256;
    // How the layers look at their past (nn/attention_kind.h); empty: at all of it, as published.
    // Ours alone: a folder that has it must not call itself a gpt2, whose readers would ignore it.
    LayerKinds attention{};
    int pad_token_id = -1;  // never fed to the model; kept for the file's sake

    int inner() const { return n_inner > 0 ? n_inner : 4 * n_embd; }
    float score_scale(int layer) const;  // what q·k is multiplied by in layer 0, 1, …

    void apply_preset(const std::string& name);  // tiny | small | base | big: sizes alone
    // Sizes that cannot be, and what this model does not do, are one clear error each.
    static Gpt2Config from_json(const Json& json, const std::string& where);
    Json to_json() const;

private:
    void check(const std::string& where) const;
};

}  // namespace fovea
