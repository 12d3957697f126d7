#pragma once
// Lines and words drawn into pictures. Words are of small letters of our own, 5 × 7 pixels,
// capitals alone: labels on boxes, not prose. Thread-safety: pure functions.
#include <array>
#include <cstdint>
#include <string_view>

#include "fovea/io/picture.h"

namespace fovea {

using Colour = std::array<std::uint8_t, 3>;

// Colours that are told apart; they repeat after a while.
Colour colour_of(std::size_t number);

struct DrawnBox {
    std::int64_t left = 0, top = 0, right = 0, bottom = 0;  // pixels, the last ones included
};

// Into a picture of three channels; what lies beyond it is left out.
void draw_frame(Picture& picture, const DrawnBox& box, const Colour& colour, int thickness = 1);
void fill_box(Picture& picture, const DrawnBox& box, const Colour& colour);

inline constexpr int letter_height = 7, letter_width = 6;  // with the gap behind it
// Letters that there are none of are shown as '?'. `scale`: pixels of a dot, each way.
struct DrawnText {
    std::int64_t left = 0, top = 0;
    Colour colour{255, 255, 255};
    int scale = 1;
};
void draw_text(Picture& picture, std::string_view text, const DrawnText& how);

}  // namespace fovea
