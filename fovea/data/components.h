#pragma once
// Connected components of masks: pixels of one label that touch, by a side or a corner, are one
// thing. Label 0 is the ground.
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

struct Component {
    std::uint8_t label = 0;
    std::int64_t area = 0;                                   // pixels
    double centre_y = 0, centre_x = 0;                       // mean of its pixels' middles
    std::uint32_t top = 0, left = 0, height = 0, width = 0;  // the box around it
};

struct Components {
    std::uint32_t height = 0, width = 0;
    std::vector<Component> all;          // in the order in which reading meets their first pixel
    std::vector<std::int32_t> of_pixel;  // index into `all`; −1: the ground, or too small a thing
};

// Those of fewer than `least_area` pixels are left out.
Components connected_components(std::span<const std::uint8_t> labels, std::uint32_t height,
                                std::uint32_t width, std::int64_t least_area = 1);

}  // namespace fovea
