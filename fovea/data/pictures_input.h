#pragma once
// What a model of pictures is fed: Hugging Face's preprocessor_config.json. A picture is resized
// (and cut from its middle), then its bytes become numbers: (byte · rescale − mean) / std of its
// channel.
// Thread-safety: plain values; const calls are safe from any thread.
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/io/picture.h"
#include "fovea/io/resize.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct PictureInput {
    std::uint32_t height = 224, width = 224;  // that the model gets
    Resample resample = Resample::bilinear;
    // Before the middle of that size is cut out; 0: the picture is resized to it at once.
    std::uint32_t resized_height = 0, resized_width = 0;
    double rescale = 1.0 / 255;
    std::vector<double> mean{0.5, 0.5, 0.5}, deviation{0.5, 0.5, 0.5};  // one a channel

    std::uint32_t channels() const { return static_cast<std::uint32_t>(mean.size()); }

    static PictureInput of_json(const Json& json, const std::string& where);
    Json to_json() const;

    // A picture of any size and the model's channels as one of the model's size.
    Picture fitted(const Picture& picture) const;
    // [pictures, channels, height, width] of fitted ones.
    Tensor pixels(std::span<const Picture> pictures) const;
    void put_pixels(const Picture& picture, float* to) const;  // of one, [channels, height, width]
};

}  // namespace fovea
