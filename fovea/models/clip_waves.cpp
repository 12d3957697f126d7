#include "fovea/models/clip_waves.h"

#include <cmath>
#include <numbers>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// About as loud as a patch of pixels is behind its projection.
constexpr double amplitude = 0.4;

// Column c of the position `at` on an axis of `length` positions; 0 in the columns of other axes.
float wave(std::int64_t c, std::int64_t width, int axis, double at, int length) {
    if (c % 3 != axis) return 0;
    const std::int64_t number = c / 3, pair = number / 2, waves = (width + 5) / 6;
    const double share = waves > 1 ? static_cast<double>(pair) / (waves - 1.0) : 0;
    const double angle = std::numbers::pi * at / (length * std::pow(0.25, share));
    return static_cast<float>(amplitude * (number % 2 == 0 ? std::sin(angle) : std::cos(angle)));
}

}  // namespace

Init place_waves(int side) {
    return [side](Tensor& t, Rng&) {
        expect(t.size() % (1 + side * side) == 0, "place_waves: a table ", t.shape(), " for ", side,
               " x ", side, " places");
        const std::int64_t width = t.size() / (1 + side * side);
        float* p = std::fill_n(t.write(), width, 0.0f);
        for (int y = 0; y < side; ++y)
            for (int x = 0; x < side; ++x)
                for (std::int64_t c = 0; c < width; ++c)
                    *p++ = wave(c, width, 0, y, side) + wave(c, width, 1, x, side);
    };
}

Init frame_waves(int frames) {
    return [frames](Tensor& t, Rng&) {
        expect(t.size() % frames == 0, "frame_waves: a table ", t.shape(), " for ", frames,
               " frames");
        const std::int64_t width = t.size() / frames;
        float* p = t.write();
        for (int f = 0; f < frames; ++f)
            for (std::int64_t c = 0; c < width; ++c) *p++ = wave(c, width, 2, f, frames);
    };
}

}  // namespace fovea
