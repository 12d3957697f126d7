#pragma once
// SegFormer (Xie et al. 2021): a pyramid of Transformer stages over overlapping patches, attention
// whose keys are reduced by a strided convolution, feed-forward layers that see their neighbours
// through a depthwise convolution (which makes positions unnecessary), and a decoder of linear
// layers over all stages. Parameters are named as Hugging Face's SegformerForSemanticSegmentation.
// Thread-safety: const calls without a tape from several threads are safe while nobody trains.
#include <string>
#include <vector>

#include "fovea/models/feature_map.h"
#include "fovea/models/segformer_config.h"
#include "fovea/nn/batch_norm.h"
#include "fovea/nn/conv2d.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/tensor/name_rules.h"

namespace fovea {

// §3.1, efficient self-attention: queries at full size, keys and values R times smaller each way.
struct SegformerAttention {
    SegformerAttention(const SegformerConfig& c, int stage, const Params& p);
    Tensor operator()(const Tensor& x, const Grid& grid) const;

    Linear query, key, value, output;
    std::vector<Conv2d> reduction;  // none where R = 1
    std::vector<LayerNorm> reduced_norm;
    int heads;
    float dropout;
    std::string name;
};

// §3.1, eq. 3, Mix-FFN:  x + MLP(GELU(Conv3x3(MLP(x)))), the sum outside.
struct SegformerMixFfn {
    SegformerMixFfn(const SegformerConfig& c, int stage, const Params& p);
    Tensor operator()(const Tensor& x, const Grid& grid) const;

    Linear dense1, dense2;
    Tensor kernels, bias;  // of the depthwise convolution
    Act act;
    float dropout;
};

struct SegformerLayer {
    SegformerLayer(const SegformerConfig& c, int stage, float path, const Params& p);
    Tensor operator()(const Tensor& x, const Grid& grid) const;

    LayerNorm norm1, norm2;
    SegformerAttention attention;
    SegformerMixFfn ffn;
    float dropout, path_dropout;
};

struct SegformerStage {
    SegformerStage(const SegformerConfig& c, int stage, const Params& encoder);
    FeatureMap operator()(const FeatureMap& x) const;

    Conv2d patches;
    LayerNorm patch_norm, norm;
    std::vector<SegformerLayer> layers;
};

// §3.2, all-MLP decoder: each stage projected and enlarged to the first one's size, joined, fused.
struct SegformerDecoder {
    SegformerDecoder(const SegformerConfig& c, const Params& p);
    FeatureMap operator()(const std::vector<FeatureMap>& stages) const;

    std::vector<Linear> projections;
    Tensor fuse;  // [d, stages · d, 1, 1]; the last stage's columns first
    BatchNorm norm;
    Tensor classes, class_bias;
    float dropout;
};

struct Segformer {
    Segformer(const SegformerConfig& config, const Params& p);

    // Pixels [grid.rows(), channels] (rows named by sample while training) -> logits of the labels
    // at a quarter of the size. While a tape is alive, the decoder's batch norm uses the batch's
    // statistics and moves its running averages: not from two threads at once.
    FeatureMap operator()(const Tensor& pixels, const Grid& grid) const;

    // Logits at the pictures' own size, and their mean cross-entropy with a label for each pixel.
    Tensor enlarged(const FeatureMap& logits, std::int64_t height, std::int64_t width) const;
    Tensor loss(const FeatureMap& logits, const Grid& labelled, const Ids& labels) const;

    static std::vector<NameRule> rules();

    SegformerConfig config;
    std::vector<SegformerStage> stages;
    SegformerDecoder decoder;
};

}  // namespace fovea
