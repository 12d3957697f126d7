#pragma once
// Sizes and choices of XLNet. Fields are named as in Hugging Face's config.json; the defaults are
// the base model of Yang et al. 2019.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <string>

#include "fovea/base/act.h"
#include "fovea/base/json.h"

namespace fovea {

// From the rows of a sequence to the vector that is classified.
enum class XlnetSummary { last, first, mean };

struct XlnetConfig {
    int vocab_size = 32000;
    int d_model = 768;
    int n_layer = 12;
    int n_head = 12;
    int d_inner = 3072;
    Act ff_activation = Act::gelu;
    bool causal = false;  // attn_type "uni": a row sees the rows before it, and itself
    float dropout = 0.1f;
    float layer_norm_eps = 1e-12f;
    float initializer_range = 0.02f;
    int clamp_len = -1;  // > 0: distances beyond it count as it
    // Generation keeps the rows of older tokens instead of reading the whole text anew for each
    // token (infer/any_order_stepper.h), at most mem_len of them; 0: all.
    bool use_mems_eval = true;
    int mem_len = 0;

    XlnetSummary summary_type = XlnetSummary::last;
    bool summary_use_proj = true;
    bool summary_tanh = true;
    float summary_first_dropout = 0.0f;
    float summary_last_dropout = 0.1f;

    int pad_token_id = 5;  // never fed to the model; kept for the file's sake
    int bos_token_id = 1;
    int eos_token_id = 2;
    // The model has no longest text; this is where texts are cut (512: as it was pretrained).
    int max_length = 512;

    void apply_preset(const std::string& name);  // tiny | small | base | big
    void check(const std::string& where) const;  // sizes that cannot be are one clear error

    static XlnetConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
};

}  // namespace fovea
