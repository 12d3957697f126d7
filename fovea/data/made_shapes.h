#pragma once
// Pictures made by rule, with masks: discs, squares and triangles of different colours on a noisy
// ground, one to four of them, later ones before earlier ones. To see that segmentation works, and
// for tests. Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/io/picture.h"

namespace fovea {

struct MadeShapes {
    std::int64_t count = 100;
    std::uint32_t size = 64;  // pixels each way
    int kinds = 3;            // 1: discs alone; 2: and squares; 3: and triangles
    std::uint64_t seed = 1;
};

// What is seen of a shape behind later ones: pixels [left, right) × [top, bottom).
struct SeenShape {
    int kind = 0;  // 0 disc, 1 square, 2 triangle
    std::uint32_t left = UINT32_MAX, top = UINT32_MAX, right = 0, bottom = 0;
    std::int64_t seen = 0, whole = 0;  // pixels: before others, and if there were no others
};

struct ShapesPicture {
    Picture picture;  // three channels
    Picture mask;     // 0 the ground, 1 disc, 2 square, 3 triangle; of one kind 0 and 255
    std::vector<SeenShape> shapes{};
};

// Picture i depends on (seed, i) alone.
ShapesPicture made_shapes(const MadeShapes& options, std::int64_t i);

// All of them, as FOLDER/images/00000.png and FOLDER/masks/00000.png.
void write_made_shapes(const MadeShapes& options, const std::string& folder);

}  // namespace fovea
