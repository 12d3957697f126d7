#pragma once
// What a model of pictures of one size is fed: Hugging Face's preprocessor_config.json. A picture
// is resized (and cut from its middle), then its bytes become numbers (data/pixel_scaling.h).
// Thread-safety: plain values; const calls are safe from any thread.
#include <span>
#include <string>
#include <vector>

#include "fovea/data/pixel_scaling.h"
#include "fovea/io/resize.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct PictureInput : PixelScaling {
    std::uint32_t height = 224, width = 224;  // that the model gets
    Resample resample = Resample::bilinear;
    // Before the middle of that size is cut out: to these sides, or (shortest) so that the shorter
    // side has so many pixels. All 0: the picture is resized to the model's size at once.
    std::uint32_t resized_height = 0, resized_width = 0, shortest = 0;
    std::uint32_t frames = 1;  // of a clip, whose channels follow one another: a file tells one's

    PictureInput() : PixelScaling{.mean = {0.5, 0.5, 0.5}, .deviation = {0.5, 0.5, 0.5}} {}
    static PictureInput of_json(const Json& json, const std::string& where);
    Json to_json() const;
    // Numbers for the channels of one frame become those for as many frames.
    void repeat_for(std::uint32_t frames_of_clip);

    // A picture of any size and the model's channels as one of the model's size.
    Picture fitted(const Picture& picture) const;
    // [pictures, channels, height, width] of fitted ones.
    Tensor pixels(std::span<const Picture> pictures) const;
    void put_pixels(const Picture& picture, float* to) const;  // of one, [channels, height, width]
};

}  // namespace fovea
