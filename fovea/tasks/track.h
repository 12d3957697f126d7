#pragma once
// Tracking: the things that a segmenter finds in the frames of a film (components of its masks),
// linked from frame to frame by where they are and how they look (track_link.h). How a thing looks
// is what the segmenter's first stages make of its pixels, in the mean over them.
// Thread-safety: pure functions over a model that does not change; several threads may call them.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/components.h"
#include "fovea/data/mot_text.h"
#include "fovea/tasks/segment.h"
#include "fovea/tasks/track_link.h"

namespace fovea {

// A frame with what is in it. `labels`: of each pixel, where a mask is given instead of the
// model's own.
struct TrackFrame {
    Picture picture;
    std::vector<std::uint8_t> labels{};
};

struct TrackedFrame {
    std::vector<SeenThing> things;  // box.id: the track
    Components components;          // things[i] is components.all[i]
};

// Frames come one at a time, `frame(i)`, so that a film need not fit into memory. What is tracked
// in a frame depends on it and those before it alone.
std::vector<TrackedFrame> track(const SegmentModel& model, std::size_t frames,
                                const std::function<TrackFrame(std::size_t)>& frame,
                                const TrackOptions& options, const PredictControl& control = {});

// The frame with each track in a colour of its own.
Picture draw_tracks(const Picture& picture, const TrackedFrame& tracked);

std::vector<TrackLine> lines_of(const std::vector<TrackedFrame>& tracked);

// A sequence to measure on: frames and their true tracks. Found in FOLDER (or in each folder
// within it): frames/ (or img1/), and truth.txt (or gt/gt.txt) or ids/, masks whose values are the
// numbers of tracks; masks/, where there is one, can be tracked instead of the model's own.
struct TrackSequence {
    std::vector<std::string> frames, masks;  // names; masks may be none
    std::vector<TrackLine> truth;
};
bool holds_tracks(const std::string& folder);
std::vector<TrackSequence> read_track_sequences(const std::string& folder);

struct TrackEvaluation {
    TrackOptions options;
    bool own_masks = false;  // those of the data instead of the model's
};
EvalReport evaluate_tracks(const SegmentModel& model, const RecordFiles& files,
                           const TrackEvaluation& how, const PredictControl& control);

std::unique_ptr<Predictor> make_track_predictor();

}  // namespace fovea
