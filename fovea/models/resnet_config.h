#pragma once
// Sizes and choices of a ResNet. Fields are named as in Hugging Face's config.json; the defaults
// are ResNet-50 of He et al. 2016.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <string>
#include <vector>

#include "fovea/base/act.h"
#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {

struct ResnetConfig {
    int num_channels = 3;
    int embedding_size = 64;
    std::vector<int> hidden_sizes{256, 512, 1024, 2048};  // of the stages
    std::vector<int> depths{3, 4, 6, 3};
    bool bottleneck = true;  // "layer_type": "bottleneck" (three convolutions) or "basic" (two)
    Act hidden_act = Act::relu;
    bool downsample_in_first_stage = false;
    bool downsample_in_bottleneck = false;  // in its first convolution instead of the second

    int stages() const { return static_cast<int>(depths.size()); }
    int stride_of(int stage) const { return stage > 0 || downsample_in_first_stage ? 2 : 1; }

    // Pixels, each way, of one row of the last stage: the stem and its pool halve twice.
    int stride() const {
        int pixels = 4;
        for (int s = 0; s < stages(); ++s) pixels *= stride_of(s);
        return pixels;
    }

    static ResnetConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;  // as a backbone whose last stage is taken
    void check(const std::string& where, ErrorKind kind = ErrorKind::bad_input) const;
};

}  // namespace fovea
