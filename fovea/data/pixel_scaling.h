#pragma once
// From bytes to what a network reads: (byte · rescale − mean) / deviation, channel by channel. Part
// of Hugging Face's preprocessor_config.json, the same for every kind of model.
// Thread-safety: plain values; const calls are safe from any thread.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/io/picture.h"

namespace fovea {

class JsonFields;

struct PixelScaling {
    double rescale = 1.0 / 255;
    std::vector<double> mean{0.485, 0.456, 0.406}, deviation{0.229, 0.224, 0.225};  // ImageNet's

    std::uint32_t channels() const { return static_cast<std::uint32_t>(mean.size()); }

    // do_rescale, rescale_factor, do_normalize, image_mean, image_std; what is not there stays.
    void read(JsonFields& fields);
    // The same for a model of so many channels: numbers of more are left out.
    static PixelScaling of(const Json& preprocessor, const std::string& where, int channels);
    void put(Json& preprocessor) const;

    // Of a picture with these channels: [height · width, channels], or [channels, height, width].
    void put_rows(const Picture& picture, float* to) const;
    void put_planes(const Picture& picture, float* to) const;

private:
    std::array<float, 256> of_byte(std::size_t channel) const;
};

}  // namespace fovea
