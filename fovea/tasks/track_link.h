#pragma once
// Things seen in frames, linked to tracks: in each frame the tracks that live and the things that
// are seen are matched at the least sum of costs (base/assignment.h). A pair costs
//
//   iou · (1 − IoU of the boxes) + centre · distance / reach + feature · distance of features
//
// and may not be farther apart than `reach`. Not to link a track and a thing costs as much as the
// weights together: were it forbidden where it can be helped, one thing that comes and another that
// goes would push all between them to the wrong tracks. Features are compared column by column in
// units of their deviation over all that are at hand, so that those of two things taken at random
// are about 1 apart; a column counts the less, the more it has changed along the links so far. What
// is not matched is born; a track that was not seen for `patience` frames has died.
// Thread-safety: a TrackLinker belongs to one thread; the rest are plain values.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fovea/base/settings.h"
#include "fovea/metrics/tracking.h"

namespace fovea {

struct TrackOptions {
    double iou = 1, centre = 1, feature = 0.5;
    std::optional<double> reach{};  // pixels; without: twice the mean side of what is seen
    int patience = 3;
    std::int64_t least_area = 12;  // pixels; smaller things are noise

    double most() const { return iou + centre + feature; }  // the cost of not linking
    void describe(Settings& settings);
    void check() const;  // a usage error where nothing would count
};

struct SeenThing {
    TrackBox box;  // its id is given by the linker
    double centre_y = 0, centre_x = 0;
    std::int64_t area = 0;
    std::uint8_t label = 0;         // only things of one label are linked
    std::vector<float> features{};  // as many numbers for all, or none
};

class TrackLinker {
public:
    explicit TrackLinker(const TrackOptions& options) : options_(options) { options_.check(); }

    // The things of the next frame, with the numbers of their tracks: 1, 2, … as they are born.
    std::vector<SeenThing> next(std::vector<SeenThing> seen);

private:
    struct Track {
        SeenThing last;
        int unseen = 0;  // frames since
    };
    std::vector<double> costs(std::span<const SeenThing> seen) const;
    double reach_of(std::span<const SeenThing> seen) const;
    std::vector<double> column_weights(std::span<const double> units) const;
    void note_link(const SeenThing& before, const SeenThing& now);

    TrackOptions options_;
    std::vector<Track> live_;
    std::int64_t born_ = 0;
    // Of all links: the squared difference of each column of features, and how many there were.
    std::vector<double> changes_;
    std::int64_t links_ = 0;
};

}  // namespace fovea
