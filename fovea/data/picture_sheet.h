#pragma once
// Pictures side by side on a large one, and the pictures most like another: whoever looks at
// samples of a model wants to know whether it learned them by heart.
// Thread-safety: pure functions, safe from any thread.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/io/picture.h"

namespace fovea {

struct SheetOptions {
    std::uint32_t scale = 2;  // each pixel becomes so many, both ways
    std::uint32_t gap = 4;    // pixels between pictures
    std::uint8_t ground = 96;
};

// Each entry of `rows` is one row. Pictures of one size and one number of channels.
Picture picture_sheet(std::span<const std::vector<Picture>> rows, const SheetOptions& options = {});

// The `count` nearest by the sum of squared differences of pixels, nearest first (among equals the
// earlier one). All are of one size.
std::vector<std::size_t> nearest_pictures(const Picture& picture, std::span<const Picture> among,
                                          std::size_t count);

}  // namespace fovea
