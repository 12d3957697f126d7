#include "fovea/data/made_clips.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/rng.h"
#include "fovea/io/png.h"

namespace fovea {
namespace {

constexpr double pi = 3.14159265358979323846;

// An ellipse at one moment.
struct Shape2d {
    double x, y, long_half, short_half, angle;
};

// The path of a shape: where it is at time 0 … 1. The second motion of a pair is the first one
// played backwards.
struct Path {
    int pair;  // 0 sideways, 1 up and down, 2 turning, 3 growing
    Shape2d middle;
    double reach;  // of the motion, to either side of the middle

    Shape2d at(double time) const {
        Shape2d s = middle;
        const double by = reach * (2 * time - 1);
        if (pair == 0) s.x -= by;
        if (pair == 1) s.y -= by;
        if (pair == 2) {  // as the hand of a clock, whose one end stays where it is
            s.angle += by;
            s.x += s.long_half * std::cos(s.angle);
            s.y += s.long_half * std::sin(s.angle);
        }
        if (pair == 3) {
            s.long_half *= 1 + by;
            s.short_half *= 1 + by;
        }
        return s;
    }
};

Path drawn_path(int pair, const ClipOptions& o, Rng& rng) {
    const double size = o.size;
    const auto between = [&](double low, double high) {
        return low + (high - low) * rng.uniform();
    };
    Path path;
    path.pair = pair;
    path.middle = {.x = between(0.4, 0.6) * size,
                   .y = between(0.4, 0.6) * size,
                   .long_half = between(0.18, 0.26) * size,
                   .short_half = between(0.07, 0.11) * size,
                   .angle = between(0, 2 * pi)};
    // A hand turns by less than half a circle: the longer way round would be the other motion.
    path.reach = pair == 2   ? between(0.2, 0.4) * pi
                 : pair == 3 ? between(0.3, 0.6)
                             : between(0.15, 0.25) * size;
    return path;
}

// How much of a pixel the shape covers: 1 inside, falling to 0 over about one pixel.
double cover(const Shape2d& s, double x, double y) {
    const double dx = x - s.x, dy = y - s.y, c = std::cos(s.angle), n = std::sin(s.angle);
    const double u = (dx * c + dy * n) / s.long_half, v = (dy * c - dx * n) / s.short_half;
    const double distance = (std::sqrt(u * u + v * v) - 1) * std::min(s.long_half, s.short_half);
    return std::clamp(0.5 - distance, 0.0, 1.0);
}

}  // namespace

MadeClip made_clip(std::int64_t number, const ClipOptions& o) {
    expect(number >= 0 && o.frames >= 2 && o.size >= 8, "made_clip: clip ", number, " of ",
           o.frames, " frames of ", o.size, " pixels");
    Rng rng(o.seed, static_cast<std::uint64_t>(number));
    const int motion = static_cast<int>(number % 8);
    const Path path = drawn_path(motion / 2, o, rng);
    const double grey = 60 + 60 * rng.uniform(), bright = grey + 70 + 50 * rng.uniform();
    MadeClip clip{clip_motions[motion], {}};
    for (int f = 0; f < o.frames; ++f) {
        const double forwards = static_cast<double>(f) / (o.frames - 1);
        const Shape2d shape = path.at(motion % 2 == 0 ? forwards : 1 - forwards);
        Picture p = blank_picture(o.size, o.size, 1, "made_clip");
        for (std::uint32_t y = 0; y < p.height; ++y)
            for (std::uint32_t x = 0; x < p.width; ++x) {
                const double part = cover(shape, x + 0.5, y + 0.5);
                const double value =
                    grey + (bright - grey) * part + o.noise * static_cast<double>(rng.normal());
                *p.at(y, x) = static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
            }
        clip.frames.push_back(std::move(p));
    }
    return clip;
}

void write_made_clips(const std::string& folder, std::int64_t count, const ClipOptions& options) {
    for (std::int64_t i = 0; i < count; ++i) {
        const MadeClip clip = made_clip(i, options);
        const std::string own =
            join_path(join_path(folder, clip.motion), fmt::format("clip-{:05}", i / 8 + 1));
        make_folders(own);
        for (std::size_t f = 0; f < clip.frames.size(); ++f)
            write_png(join_path(own, fmt::format("frame-{:02}.png", f + 1)), clip.frames[f]);
    }
}

}  // namespace fovea
