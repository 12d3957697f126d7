#pragma once
// Sizes and choices of DETR. Fields are named as in Hugging Face's config.json; the defaults are
// those of Carion et al. 2020.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <string>

#include "fovea/base/act.h"
#include "fovea/base/json.h"
#include "fovea/models/resnet_config.h"

namespace fovea {

struct DetrConfig {
    ResnetConfig backbone;
    int d_model = 256;
    int encoder_layers = 6, encoder_attention_heads = 8, encoder_ffn_dim = 2048;
    int decoder_layers = 6, decoder_attention_heads = 8, decoder_ffn_dim = 2048;
    int num_queries = 100;
    Act activation_function = Act::relu;
    double dropout = 0.1, attention_dropout = 0, activation_dropout = 0;
    // Every decoder layer's output learns; its norm then stands between the layers, too.
    bool auxiliary_loss = false;
    double class_cost = 1, bbox_cost = 5, giou_cost = 2;  // of a match
    double bbox_loss_coefficient = 5, giou_loss_coefficient = 2, eos_coefficient = 0.1;

    static DetrConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
    // Sizes that cannot be are one clear error: bad_input for a file, usage for a choice.
    void check(const std::string& where, ErrorKind kind = ErrorKind::bad_input) const;
};

}  // namespace fovea
