#pragma once
// Sizes and choices of ViT, which DeiT shares. Fields are named as in Hugging Face's config.json;
// the defaults are ViT-B/16 of Dosovitskiy et al. 2020. Thread-safety: plain values; reading one
// from several threads is safe, changing it is not.
#include <string>

#include "fovea/base/act.h"
#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {

struct VitConfig {
    int hidden_size = 768;
    int num_hidden_layers = 12;
    int num_attention_heads = 12;
    int intermediate_size = 3072;
    int image_height = 224, image_width = 224;  // "image_size": one number, or both
    int patch_height = 16, patch_width = 16;    // "patch_size"
    int num_channels = 3;
    Act hidden_act = Act::gelu;
    double hidden_dropout_prob = 0;
    double attention_probs_dropout_prob = 0;
    double layer_norm_eps = 1e-12;
    double initializer_range = 0.02;

    int grid_height() const { return image_height / patch_height; }
    int grid_width() const { return image_width / patch_width; }
    int patches() const { return grid_height() * grid_width(); }
    float dropout() const { return static_cast<float>(hidden_dropout_prob); }

    // Sizes that cannot be are one clear error: bad_input for a file, usage for a choice.
    void check(const std::string& where, ErrorKind kind = ErrorKind::bad_input) const;
    // What the file does not say stays as it is; what this model cannot do is refused by its name.
    void read(const Json& json, const std::string& where);
    Json to_json(const char* model_type) const;
};

}  // namespace fovea
