#pragma once
// How well predicted masks cover wanted ones: Dice and intersection over union, for each picture
// (and their mean), and pooled over all pixels of all pictures.
//   Dice = 2 |A ∩ B| / (|A| + |B|)     IoU = |A ∩ B| / |A ∪ B|
// Thread-safety: a MaskScorer belongs to one thread; the rest are plain values.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/metrics/score.h"

namespace fovea {

// What a class scores in a picture where nobody wants it and nobody found it.
enum class EmptyMask {
    one,   // right: 1
    skip,  // the picture does not count for this class
};

struct MaskScorerOptions {
    // Classes 0 … classes − 1. With two, class 0 is the background and only class 1 is scored; with
    // more, all are.
    int classes = 2;
    EmptyMask empty = EmptyMask::one;
    int ignore = 255;  // wanted pixels of this value do not count
};

struct MaskShares {
    double dice = 0, iou = 0;  // 0 … 1
};

struct MaskScore {
    MaskShares mean;    // over pictures, then over classes
    MaskShares pooled;  // over all pixels, then the mean over classes
    double accuracy = 0;
    std::vector<MaskShares> classes;  // the pictures' mean of each scored class
    std::int64_t pictures = 0;
    std::string signature;

    // As a task reports it, in percent: mean Dice first, the rest as figures.
    MetricScore score(std::span<const std::string> labels) const;
};

class MaskScorer {
public:
    explicit MaskScorer(const MaskScorerOptions& options);

    // One picture, a class for each pixel. Gives the picture's own mean over classes.
    MaskShares add(std::span<const std::uint8_t> predicted, std::span<const std::uint8_t> wanted);
    MaskScore score() const;

private:
    struct Counts {
        std::int64_t both = 0, predicted = 0, wanted = 0;
    };
    struct Sums {
        double dice = 0, iou = 0;
        std::int64_t pictures = 0;
    };
    MaskShares shares_of(const Counts& c) const;
    int first_class() const { return options_.classes == 2 ? 1 : 0; }

    MaskScorerOptions options_;
    std::vector<Counts> all_;
    std::vector<Sums> sums_;
    std::int64_t pictures_ = 0, right_ = 0, pixels_ = 0;
};

}  // namespace fovea
