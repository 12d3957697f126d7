#pragma once
// Pictures as rows: a batch of `images` pictures of height x width positions, one row of channels
// each, picture by picture, line by line. All pictures of a batch have one size.
#include <cstdint>

namespace fovea {

struct Grid {
    std::int64_t images = 0, height = 0, width = 0;

    std::int64_t area() const { return height * width; }
    std::int64_t rows() const { return images * height * width; }
    bool operator==(const Grid&) const = default;
};

}  // namespace fovea
