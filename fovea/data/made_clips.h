#pragma once
// Short films of a moving shape, to see whether a model looks through time. Eight motions in four
// mirror pairs: a clip played backwards is a clip of the other motion of its pair, with the same
// probability. So whoever looks at frames alone, in any order, knows the pair but not which of the
// two, and is right in half of the cases at best.
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/io/picture.h"

namespace fovea {

struct MadeClip {
    std::string motion;
    std::vector<Picture> frames;  // grey, `size` pixels high and wide
};

struct ClipOptions {
    int frames = 8;
    int size = 32;
    double noise = 12;  // deviation of the background's grey
    std::uint64_t seed = 1;
};

inline constexpr const char* clip_motions[] = {
    "left", "right", "up", "down", "clockwise", "anticlockwise", "growing", "shrinking"};

// Clip `number` of the seed; its motion is clip_motions[number % 8].
MadeClip made_clip(std::int64_t number, const ClipOptions& options);

// count clips under folder/MOTION/clip-00001/frame-01.png.
void write_made_clips(const std::string& folder, std::int64_t count, const ClipOptions& options);

}  // namespace fovea
