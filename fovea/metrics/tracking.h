#pragma once
// How well found tracks follow true ones: CLEAR MOT (Bernardin & Stiefelhagen 2008) and IDF1
// (Ristani et al. 2016), as py-motmetrics 1.4 counts them.
//
//   MOTA = 1 − (misses + false alarms + switches) / objects
//   IDF1 = 2 IDTP / (objects + found), the identities of both sides matched once for all frames
//
// In a frame a pair that was matched the last time stays matched while it may; the rest is matched
// at the least sum of distances, as many as may be. A true track that then has another partner than
// the last time it was matched is a switch.
// Thread-safety: a TrackingScorer belongs to one thread; the rest are plain values.
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "fovea/metrics/score.h"

namespace fovea {

struct TrackBox {
    std::int64_t id = 0;  // of the track; once in a frame
    double x = 0, y = 0, width = 0, height = 0;
};

double iou_of(const TrackBox& a, const TrackBox& b);

struct TrackingCounts {
    std::int64_t frames = 0, objects = 0, found = 0;  // boxes of all frames
    std::int64_t matches = 0, switches = 0, misses = 0, false_alarms = 0;
    std::int64_t fragments = 0;      // how often a track that was followed is lost, and found again
    std::int64_t same_identity = 0;  // IDTP
    double distances = 0;            // of all that are matched

    TrackingCounts& operator+=(const TrackingCounts& o);  // of another sequence
    double mota() const, motp() const, idf1() const, id_precision() const, id_recall() const,
        precision() const, recall() const;  // 0 … 1 (MOTA may be below; MOTP is a mean distance)
    // In percent: IDF1 first, the rest as figures.
    MetricScore score(double least_iou) const;
};

// One sequence, frame by frame.
class TrackingScorer {
public:
    static constexpr double never = -1;  // a distance of what cannot be matched

    explicit TrackingScorer(double least_iou = 0.5) : least_iou_(least_iou) {}

    // Boxes may be matched from least_iou on, at the distance 1 − IoU.
    void add(std::span<const TrackBox> truth, std::span<const TrackBox> found);
    // The same by distances of any kind, [truth, found] by rows.
    void add(std::span<const std::int64_t> truth, std::span<const std::int64_t> found,
             std::span<const double> distances);
    TrackingCounts counts() const;

private:
    struct Followed {
        bool ever = false, lost = false;  // matched before; not in the last frame it was in
    };
    void keep_matches(std::span<const std::int64_t> truth, std::span<const std::int64_t> found,
                      std::span<const double> distances, std::vector<std::int64_t>& partner);
    void match_rest(std::span<const std::int64_t> truth, std::span<const std::int64_t> found,
                    std::span<const double> distances, std::vector<std::int64_t>& partner);

    double least_iou_;
    TrackingCounts counts_;
    std::map<std::int64_t, std::int64_t> last_partner_;  // of true tracks
    std::map<std::int64_t, Followed> followed_;
    std::map<std::int64_t, std::int64_t> true_frames_, found_frames_;         // by track
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> together_;  // frames of a pair
};

}  // namespace fovea
