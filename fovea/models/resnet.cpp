#include "fovea/models/resnet.h"

#include <algorithm>
#include <cmath>

#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/max_pool2d.h"

namespace fovea {
namespace {

constexpr float norm_eps = 1e-5f;
constexpr PoolOptions stem_pool{.size = 3, .stride = 2, .padding = 1};

Conv2d::Sizes conv_sizes(int in, int out, int kernel, int stride = 1) {
    return {.in = in, .out = out, .kernel = kernel, .stride = stride, .padding = kernel / 2};
}

// Without statistics to learn, each layer of a new model would double the variance of what it adds
// to; half the branch's scale keeps a deep stack near its input (cf. Zhang et al. 2019, Fixup).
constexpr float branch_scale = 0.5f;

// The convolutions of a layer's branch, in order.
std::vector<Conv2d::Sizes> branch_sizes(const ResnetConfig& c, const ResnetLayer::Sizes& s) {
    if (!c.bottleneck) return {conv_sizes(s.in, s.out, 3, s.stride), conv_sizes(s.out, s.out, 3)};
    const int narrow = s.out / 4;
    const bool early = c.downsample_in_bottleneck;
    return {conv_sizes(s.in, narrow, 1, early ? s.stride : 1),
            conv_sizes(narrow, narrow, 3, early ? 1 : s.stride), conv_sizes(narrow, s.out, 1)};
}

}  // namespace

ResnetConv::ResnetConv(const Conv2d::Sizes& s, const Params& p, float scale)
    : weight((p / "convolution").get("weight", {s.out, s.in, s.kernel, s.kernel}, he_fan_out())),
      gamma((p / "normalization").constant("weight", {s.out}, constant(scale))),
      beta((p / "normalization").constant("bias", {s.out}, zeros())),
      mean((p / "normalization").constant("running_mean", {s.out}, zeros())),
      variance((p / "normalization").constant("running_var", {s.out}, ones())),
      sizes(s) {}

FeatureMap ResnetConv::operator()(const FeatureMap& x, Act act) const {
    Tensor scales(weight.shape()), shift({sizes.out});
    const std::int64_t values = weight.size() / sizes.out;
    for (std::int64_t o = 0; o < sizes.out; ++o) {
        const float s = gamma.data()[o] / std::sqrt(variance.data()[o] + norm_eps);
        std::fill_n(scales.write() + o * values, values, s);
        shift.write()[o] = beta.data()[o] - mean.data()[o] * s;
    }
    const Conv2dOptions o{.stride = sizes.stride, .padding = sizes.padding, .act = act};
    return {conv2d(x.rows, x.grid, mul(weight, scales), shift, o),
            conv2d_grid(x.grid, sizes.kernel, sizes.kernel, o)};
}

ResnetLayer::ResnetLayer(const ResnetConfig& c, const Sizes& s, const Params& p)
    : act(c.hidden_act) {
    const std::vector<Conv2d::Sizes> convs = branch_sizes(c, s);
    for (std::size_t i = 0; i < convs.size(); ++i)
        branch.emplace_back(convs[i], p / "layer" / static_cast<int>(i),
                            i + 1 < convs.size() ? 1.0f : branch_scale);
    if (s.in != s.out || s.stride != 1)
        shortcut.emplace(conv_sizes(s.in, s.out, 1, s.stride), p / "shortcut");
}

FeatureMap ResnetLayer::operator()(const FeatureMap& x) const {
    FeatureMap h = x;
    // transformers hands its hidden_act to the sum alone; inside the branch it is always ReLU
    for (std::size_t i = 0; i < branch.size(); ++i)
        h = branch[i](h, i + 1 < branch.size() ? Act::relu : Act::none);
    const Tensor past = shortcut ? (*shortcut)(x, Act::none).rows : x.rows;
    return {activate(h.rows + past, act), h.grid};
}

Resnet::Resnet(const ResnetConfig& c, const Params& p)
    : config(c),
      embedder(conv_sizes(c.num_channels, c.embedding_size, 7, 2), p / "embedder" / "embedder") {
    int in = c.embedding_size;
    for (int stage = 0; stage < c.stages(); ++stage) {
        const int out = c.hidden_sizes[static_cast<std::size_t>(stage)];
        for (int i = 0; i < c.depths[static_cast<std::size_t>(stage)]; ++i) {
            layers.emplace_back(c, ResnetLayer::Sizes{in, out, i == 0 ? c.stride_of(stage) : 1},
                                p / "encoder" / "stages" / stage / "layers" / i);
            in = out;
        }
    }
}

FeatureMap Resnet::operator()(const FeatureMap& pixels) const {
    expect(pixels.rows.cols() == config.num_channels, "resnet: pixels are ", pixels.rows.shape(),
           " but ", config.num_channels, " channels are wanted");
    const FeatureMap stem = embedder(pixels, config.hidden_act);
    FeatureMap x{max_pool2d(stem.rows, stem.grid, stem_pool),
                 max_pool2d_grid(stem.grid, stem_pool)};
    for (const ResnetLayer& layer : layers) x = layer(x);
    return x;
}

}  // namespace fovea
