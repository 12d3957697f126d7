#pragma once
// How the tables of places and of frames begin in a model of clips. The direction of a motion is in
// no place and in no frame but in their product (early here and late there). From tables of noise
// that has to be found for every pair of a place and a frame; from slow waves, where neighbours
// look alike, one pair teaches the next. So of every three columns one tells the line, one the
// column of the picture and one the frame, as sines and cosines of waves between twice and half
// the length of their axis. They are learned from there on.
// Thread-safety: pure functions, safe from any thread.
#include "fovea/nn/init.h"

namespace fovea {

Init place_waves(int side);  // of a table [1, 1 + side · side, width]; the first token's row is 0
Init frame_waves(int frames);  // of a table [1, frames, width]

}  // namespace fovea
