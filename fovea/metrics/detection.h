#pragma once
// How well found boxes agree with wanted ones: the twelve figures of COCO's evaluation (Lin et al.
// 2014), equal to those of pycocotools' COCOeval: 101 recall points, ten thresholds of IoU, areas
// small (below 32²), medium and large (above 96²), at most 100 boxes a picture and category,
// crowds. Thread-safety: pure functions and plain values.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/metrics/score.h"

namespace fovea {

struct Box {
    double x = 0, y = 0, width = 0, height = 0;  // of the corner with the lowest x and y

    double area() const { return width * height; }
};

struct WantedBox {
    Box box;
    int category = 0;
    double area = 0;     // of the thing itself, by which it is small, medium or large
    bool crowd = false;  // many things at once: boxes found in it are neither right nor wrong
};

struct FoundBox {
    Box box;
    int category = 0;
    double score = 0;
};

struct PictureBoxes {
    std::vector<WantedBox> wanted;
    std::vector<FoundBox> found;
};

// |A ∩ B| / |A ∪ B|; of a crowd B: |A ∩ B| / |A|.
double box_overlap(const Box& found, const Box& wanted, bool crowd = false);

// Figures are shares, 0 … 1; −1 where there is nothing to measure (no large thing, say).
struct DetectionScore {
    double ap = -1, ap50 = -1, ap75 = -1, ap_small = -1, ap_medium = -1, ap_large = -1;
    double ar1 = -1, ar10 = -1, ar100 = -1, ar_small = -1, ar_medium = -1, ar_large = -1;
    std::vector<double> category_ap, category_ap50;  // all areas

    // In the order of pycocotools' `stats`.
    std::array<double, 12> figures() const {
        return {ap,  ap50, ap75,  ap_small, ap_medium, ap_large,
                ar1, ar10, ar100, ar_small, ar_medium, ar_large};
    }
    // As a task reports it, in percent: AP50 first; figures without a value are left out.
    MetricScore score(std::span<const std::string> labels) const;
};

// Categories are 0 … categories − 1. Of found boxes with equal scores those of earlier pictures,
// and earlier ones in a picture, go first.
DetectionScore detection_score(std::span<const PictureBoxes> pictures, int categories);

}  // namespace fovea
