#pragma once
// ResNet (He et al. 2016) as a backbone: pictures in, features of the last stage out. Its norms are
// frozen, as DETR has them: statistics, scale and shift stay what a checkpoint says (1 and 0 in a
// new model), so that a picture's features do not depend on its neighbours, and small batches do
// no harm. Parameters are named as Hugging Face's ResNetBackbone.
// Thread-safety: const calls without a tape from several threads are safe while nobody trains.
#include <optional>
#include <vector>

#include "fovea/models/feature_map.h"
#include "fovea/models/resnet_config.h"
#include "fovea/nn/conv2d.h"

namespace fovea {

//   y = act(s ∘ (W * x) + (beta − mean ∘ s)),  s = gamma / √(variance + 10⁻⁵)
// The scale is taken into the kernels, so that norm and activation cost nothing.
struct ResnetConv {
    ResnetConv(const Conv2d::Sizes& sizes, const Params& p, float scale = 1);
    FeatureMap operator()(const FeatureMap& x, Act act) const;

    Tensor weight;
    Tensor gamma, beta, mean, variance;  // fixed
    Conv2d::Sizes sizes;
};

// act(branch(x) + shortcut(x)): two 3 x 3 convolutions, or a bottleneck of 1 x 1, 3 x 3, 1 x 1.
struct ResnetLayer {
    struct Sizes {
        int in = 0, out = 0, stride = 1;
    };
    ResnetLayer(const ResnetConfig& c, const Sizes& sizes, const Params& p);
    FeatureMap operator()(const FeatureMap& x) const;

    std::vector<ResnetConv> branch;
    std::optional<ResnetConv> shortcut;  // none: x itself
    Act act;
};

struct Resnet {
    Resnet(const ResnetConfig& config, const Params& p);
    FeatureMap operator()(const FeatureMap& pixels) const;

    ResnetConfig config;
    ResnetConv embedder;
    std::vector<ResnetLayer> layers;  // of all stages
};

}  // namespace fovea
