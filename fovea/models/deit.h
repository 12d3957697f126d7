#pragma once
// DeiT (Touvron et al. 2020): a ViT with a distillation token beside the class token, which learns
// from a teacher's labels; at work the two heads' logits are averaged (§4). Under the parameter
// names of Hugging Face's DeiTForImageClassificationWithTeacher. Without a teacher both heads learn
// the same labels. A folder of DeiTForImageClassification has a head on the class token alone.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/models/vit.h"

namespace fovea {

struct Deit {
    static constexpr const char* model_type = "deit";
    static constexpr const char* architecture = "DeiTForImageClassificationWithTeacher";

    static Json new_config(const PictureModelChoice& choice);
    static PictureModel make(const Json& config, const std::string& where, int classes,
                             const Params& p);
    static std::span<const NameRule> rules();
};

}  // namespace fovea
