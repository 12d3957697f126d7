#pragma once
// Frames of things that move, with their masks and true tracks: nuclei (or whatever the masks of a
// folder of pictures show) cut out and set on ground of their own picture, or made shapes. Each
// goes its way at one speed, turns a little, and turns away from borders and from others; some come
// later, some go earlier.
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/mot_text.h"
#include "fovea/io/picture.h"

namespace fovea {

struct MadeTracks {
    std::string pictures{};  // masked ones, as data/masks.h reads them; "": made shapes
    std::int64_t count = 4;  // sequences
    int frames = 20, objects = 24;
    std::uint32_t size = 256;  // pixels each way
    double speed = 2;          // pixels a frame
    double misses = 0;         // share of things that a mask lacks (the frame and the truth do not)
    std::uint64_t seed = 1;
};

struct MadeSequence {
    std::vector<Picture> frames, masks;  // colours; 0 and 255
    std::vector<TrackLine> truth;
};

MadeSequence made_tracks(const MadeTracks& options, std::int64_t i);  // of (seed, i) alone

// FOLDER/0000/frames/000001.png, FOLDER/0000/masks/000001.png, FOLDER/0000/truth.txt.
void write_made_tracks(const MadeTracks& options, const std::string& folder);

}  // namespace fovea
