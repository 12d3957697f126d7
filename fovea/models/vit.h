#pragma once
// ViT (Dosovitskiy et al. 2020): a picture cut into patches, each a word; the Transformer's encoder
// (pre-norm) over them and a class token, under the parameter names of Hugging Face's vit models.
// DeiT (deit.h) is the same encoder with one token more and heads of its own.
//
// All pictures of a batch lie end to end ([pictures · (1 + patches), d] and Segments).
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <span>
#include <string>
#include <vector>

#include "fovea/models/picture_model.h"
#include "fovea/models/vit_config.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/params.h"
#include "fovea/tensor/visibility.h"

namespace fovea {

Init vit_init(const VitConfig& c);  // normal, deviation initializer_range

// The paper's eq. 1:  z₀ = [x_class; x¹E; …; xᴺE] + E_pos. Pictures of another size than the
// model's are taken too: positions of the patches are then interpolated (§3.2), and do not learn.
struct VitEmbeddings {
    // `tokens`: names of the rows that stand before those of the patches.
    VitEmbeddings(const VitConfig& c, std::span<const char* const> tokens, const Params& p);
    PictureRows operator()(const PictureBatch& batch) const;

    std::vector<Tensor> tokens;  // [1, 1, d] each
    Tensor position_embeddings;  // [1, tokens + patches, d]
    Tensor projection_weight, projection_bias;
    VitConfig config;
};

// One block, pre-norm (eq. 2 and 3):
//   h = x + Dropout(MultiHead(LN(x)))
//   y = h + Dropout(GELU(LN(h) W₁ + b₁) W₂ + b₂)
struct VitLayer {
    VitLayer(const VitConfig& c, const Params& p);
    Tensor operator()(const Tensor& x, const Visibility& sees) const;

    Linear query, key, value, attention_output, intermediate, output;
    LayerNorm layernorm_before, layernorm_after;
    std::string name;  // of its attention: what a Probe knows its calls by
    int heads;
    Act act;
    float attention_drop, p_drop;
};

struct VitModel {
    VitModel(const VitConfig& c, std::span<const char* const> tokens, const Params& p);
    PictureRows operator()(const PictureBatch& batch) const;  // behind the last norm

    VitEmbeddings embeddings;
    std::vector<VitLayer> layers;
    LayerNorm layernorm;
};

// Positions of patches [from_h · from_w, d] for a grid of another size, bicubic as PyTorch's
// interpolate (a = -3/4, align_corners = false, no antialiasing): what transformers does.
Tensor interpolated_positions(const Tensor& positions, std::pair<int, int> from,
                              std::pair<int, int> to);

// What ViT and DeiT share as picture models. `prefix` is that of the body's parameters.
PictureModel vit_picture_model(const VitConfig& c, const VitModel& body, const std::string& prefix);
VitConfig vit_config_of(const Json& json, const std::string& where);
VitConfig vit_config_for(const PictureModelChoice& choice);
// The names that transformers 5 has in memory, and the pooler that no head for classes stands on.
std::vector<NameRule> vit_rules(const std::string& prefix);

struct Vit {
    static constexpr const char* model_type = "vit";
    static constexpr const char* architecture = "ViTForImageClassification";

    static Json new_config(const PictureModelChoice& choice);
    static PictureModel make(const Json& config, const std::string& where, int classes,
                             const Params& p);
    static std::span<const NameRule> rules();
};

}  // namespace fovea
