#pragma once
// Sizes and choices of SegFormer. Fields are named as in Hugging Face's config.json; the defaults
// are B0 of Xie et al. 2021.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <string>
#include <vector>

#include "fovea/base/act.h"
#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {

struct SegformerConfig {
    int num_channels = 3;
    std::vector<int> depths{2, 2, 2, 2};
    std::vector<int> sr_ratios{8, 4, 2, 1};
    std::vector<int> hidden_sizes{32, 64, 160, 256};
    std::vector<int> patch_sizes{7, 3, 3, 3};
    std::vector<int> strides{4, 2, 2, 2};
    std::vector<int> num_attention_heads{1, 2, 5, 8};
    std::vector<int> mlp_ratios{4, 4, 4, 4};
    Act hidden_act = Act::gelu;
    double hidden_dropout_prob = 0;
    double attention_probs_dropout_prob = 0;
    double classifier_dropout_prob = 0.1;
    double drop_path_rate = 0.1;
    double initializer_range = 0.02;
    int decoder_hidden_size = 256;
    int semantic_loss_ignore_index = 255;  // pixels with this label do not count
    std::vector<std::string> labels{};     // id2label, in order; at least two

    int stages() const { return static_cast<int>(depths.size()); }
    int layers() const;
    // Pictures must have this many pixels each way, so that keys are left after the reductions.
    int smallest_side() const;

    static SegformerConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
    // Sizes that cannot be are one clear error: bad_input for a file, usage for a choice.
    void check(const std::string& where, ErrorKind kind = ErrorKind::bad_input) const;
};

}  // namespace fovea
