#pragma once
// Pictures shown otherwise in every epoch: moved, scaled, mirrored, turned, in other light, with a
// part hidden, mixed with another. Everything is drawn by (seed, epoch, sample), so that bits
// depend on no batch and no thread. What happens to the picture's geometry is a value, Placement:
// masks and boxes follow the picture by the same one. Thread-safety: pure functions, safe from any
// thread.
#include <cstdint>
#include <optional>

#include "fovea/base/rng.h"
#include "fovea/io/picture.h"
#include "fovea/io/resize.h"

namespace fovea {

struct AugmentOptions {
    double shift = 0;     // the cut moves by up to this share of a side, each way
    double scale = 0;     // it is larger or smaller by up to this share: 0.25 is × 0.8 to × 1.25
    bool mirror = false;  // left and right, every second time
    bool turns = false;   // by 0, 90, 180 or 270 degrees
    double colour = 0;    // brightness, contrast and saturation change by up to this share
    double erase = 0;     // how often a rectangle is hidden (Zhong et al. 2017, 2 % to 33 %)
    double mixup = 0;     // α of Zhang et al. 2017; 0: none

    bool changes_geometry() const { return shift > 0 || scale > 0 || mirror || turns; }
    bool any() const { return changes_geometry() || colour > 0 || erase > 0 || mixup > 0; }
};

// What names a draw.
struct DrawName {
    std::uint64_t seed = 0;
    std::int64_t epoch = 0;
    std::uint64_t sample = 0;
};

// A stream of its own for each purpose of a sample.
enum class DrawPurpose : std::uint32_t {
    geometry = 0x706c6163,
    light = 0x6c696768,
    mix = 0x6d697875
};
Rng draws_of(const DrawName& name, DrawPurpose purpose);

// In this order: the part is cut out of the picture, turned (counter-clockwise), mirrored, resized.
struct Placement {
    Rectangle part;  // may reach beyond the picture
    int quarter_turns = 0;
    bool mirrored = false;
    std::uint32_t height = 0, width = 0;  // of the result
};

// Of a picture of `height` × `width`, for a result of the same size; `out_height` and `out_width`
// may be set afterwards.
Placement draw_placement(const AugmentOptions& options, std::uint32_t height, std::uint32_t width,
                         const DrawName& name);

// A part of so many pixels that is cut out of a picture larger (or smaller) than it.
struct CutSize {
    std::uint32_t height = 0, width = 0;          // of the picture
    std::uint32_t out_height = 0, out_width = 0;  // of the result
    double share = 1;  // how large the result shows the picture: 0.5 is half its size
};
struct Cut {
    Placement placement;
    double scale = 1;                // the share as it was drawn
    double down = 0.5, right = 0.5;  // where in what is left over: 0 is the upper left
};
// Anywhere in the picture, `share` times its size give or take `scale`; in its middle where nothing
// is drawn at all. What is no square is turned upside down alone.
Cut draw_cut(const AugmentOptions& options, const CutSize& size, const DrawName& name);

// Masks take Resample::nearest. Beyond the picture stands `fill`.
Picture placed(const Picture& picture, const Placement& placement,
               Resample filter = Resample::bilinear, std::uint8_t fill = 0);

// In pixels of the picture, [left, right) × [top, bottom).
struct PictureBox {
    double left = 0, top = 0, right = 0, bottom = 0;
    bool operator==(const PictureBox&) const = default;
};
// Where the box is in the result, cut to it; nothing where less than `least` of its area is left.
std::optional<PictureBox> placed(const PictureBox& box, const Placement& placement,
                                 double least = 0.25);

// Light and hidden parts, of a picture in place.
void change_light(Picture& picture, const AugmentOptions& options, const DrawName& name);

// With which other sample (of `samples`) a picture is mixed, and how much of it stays itself: 1 and
// itself where nothing is mixed.
struct Mix {
    std::uint64_t other = 0;
    float own = 1;
};
Mix draw_mix(const AugmentOptions& options, std::uint64_t samples, const DrawName& name);

}  // namespace fovea
