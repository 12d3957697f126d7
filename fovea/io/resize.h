#pragma once
// Pictures made smaller or larger, byte for byte as Pillow's Image.resize: each new pixel is a
// weighted mean of old ones under a filter that widens with the reduction (antialiasing), first
// along rows, then along columns (Pillow 13: the other way round where that is less work), in fixed
// point with 22 bits behind the point. Channels are
// independent of each other; transparency weighs nothing.
#include "fovea/io/picture.h"

namespace fovea {

// The numbers are Pillow's, and those of "resample" in preprocessor_config.json.
enum class Resample { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };

Picture resize(const Picture& picture, std::uint32_t height, std::uint32_t width,
               Resample filter = Resample::bilinear);

// The part [top, top + height) × [left, left + width), which may reach beyond the picture: there
// pixels are `fill`.
struct Rectangle {
    std::int64_t top = 0, left = 0, height = 0, width = 0;
};
Picture crop(const Picture& picture, const Rectangle& part, std::uint8_t fill = 0);

}  // namespace fovea
