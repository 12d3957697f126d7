#pragma once
// A sound as a person can look at it: its spectrogram, and how probable each unit is at each
// moment. Thread-safety: pure functions.
#include <string>
#include <vector>

#include "fovea/io/picture.h"
#include "fovea/tasks/task.h"

namespace fovea {

// Features [frames, bands] as a picture, time from the left, low bands at the bottom, from dark to
// bright.
Picture spectrogram(const Tensor& features);

// Probabilities [moments, units] of units that reach a tenth somewhere, the most probable of all
// moments first, at most twelve; unit 0 is the blank and comes last.
std::vector<SeenPicture::Track> posteriors(const Tensor& probabilities,
                                           const std::vector<std::string>& units);

}  // namespace fovea
