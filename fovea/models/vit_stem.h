#pragma once
// How a picture becomes the rows that a ViT reads, one a patch. Two ways:
//   patch        one linear map of each patch (Dosovitskiy et al. 2020, eq. 1), as published
//                checkpoints have it
//   convolution  3 × 3 convolutions of stride 2, each under a layer norm and GELU, down to a row a
//                patch, then one linear map (Xiao et al. 2021, §3). Norms are over channels and not
//                over the batch, so that a picture's rows do not depend on its neighbours.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <variant>
#include <vector>

#include "fovea/models/vit_config.h"
#include "fovea/nn/conv2d.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"

namespace fovea {

Init vit_init(const VitConfig& c);  // normal, deviation initializer_range

struct PatchStem {
    PatchStem(const VitConfig& c, const Params& p);
    Tensor operator()(const Tensor& pixels) const;  // [n, c, h, w] -> [n · patches, d]

    Tensor weight, bias;
    int patch;
};

struct ConvolutionStem {
    ConvolutionStem(const VitConfig& c, const Params& p);
    Tensor operator()(const Tensor& pixels) const;

    struct Step {
        Conv2d convolution;
        LayerNorm norm;
    };
    std::vector<Step> steps;
    Linear projection;
};

using VitStem = std::variant<PatchStem, ConvolutionStem>;
VitStem make_vit_stem(const VitConfig& c, const Params& p);

}  // namespace fovea
