#include "fovea/models/vit_stem.h"

#include "fovea/ops/activation.h"
#include "fovea/ops/conv.h"

namespace fovea {
namespace {

// [n, c, h, w] as one row a pixel. Pixels are data: no gradient flows into them.
Tensor pixel_rows(const Tensor& pixels) {
    const Shape& s = pixels.shape();
    const std::int64_t n = s[0], channels = s[1], area = s[2] * s[3];
    Tensor rows({n * area, channels});
    const float* from = pixels.data();
    float* to = rows.write();
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t c = 0; c < channels; ++c)
            for (std::int64_t k = 0; k < area; ++k) to[(i * area + k) * channels + c] = *from++;
    return rows;
}

int halvings_of(int patch) {
    int steps = 0;
    for (; patch > 1; patch /= 2) ++steps;
    return steps;
}

}  // namespace

PatchStem::PatchStem(const VitConfig& c, const Params& p)
    : weight((p / "patch_embeddings" / "projection")
                 .get("weight", {c.hidden_size, c.num_channels, c.patch_height, c.patch_width},
                      vit_init(c))),
      bias((p / "patch_embeddings" / "projection").get("bias", {c.hidden_size}, zeros())),
      patch(c.patch_height) {}

Tensor PatchStem::operator()(const Tensor& pixels) const {
    return conv2d(pixels, weight, bias, {.stride = patch});
}

ConvolutionStem::ConvolutionStem(const VitConfig& c, const Params& p)
    : projection(c.hidden_size, c.hidden_size, p / "stem" / "projection", vit_init(c)) {
    const int count = halvings_of(c.patch_height);
    for (int i = 0, in = c.num_channels; i < count; ++i) {
        const int out = std::max(8, c.hidden_size >> (count - 1 - i));
        const Params at = p / "stem" / i;
        steps.push_back({Conv2d({.in = in, .out = out, .kernel = 3, .stride = 2, .padding = 1},
                                at / "convolution"),
                         LayerNorm(out, at / "norm")});
        in = out;
    }
}

Tensor ConvolutionStem::operator()(const Tensor& pixels) const {
    Grid grid{pixels.shape()[0], pixels.shape()[2], pixels.shape()[3]};
    Tensor x = pixel_rows(pixels);
    for (const Step& step : steps) {
        x = gelu(step.norm(step.convolution(x, grid)));
        grid = step.convolution.grid(grid);
    }
    return projection(x);
}

VitStem make_vit_stem(const VitConfig& c, const Params& p) {
    if (c.stem == "convolution") return ConvolutionStem(c, p);
    return PatchStem(c, p);
}

}  // namespace fovea
