#include "fovea/models/box_search.h"

#include <algorithm>
#include <tuple>

namespace fovea {

float share_overlap(const ShareBox& a, const ShareBox& b) {
    const auto both = [&](std::size_t centre, std::size_t size) {
        return std::min(a[centre] + a[size] / 2, b[centre] + b[size] / 2) -
               std::max(a[centre] - a[size] / 2, b[centre] - b[size] / 2);
    };
    const float w = both(0, 2), h = both(1, 3);
    if (w <= 0 || h <= 0) return 0;
    return w * h / (a[2] * a[3] + b[2] * b[3] - w * h);
}

std::vector<ScoredBox> surest_boxes(std::vector<ScoredBox> boxes, float overlap, std::size_t most,
                                    bool any_label) {
    std::sort(boxes.begin(), boxes.end(), [](const ScoredBox& a, const ScoredBox& b) {
        return std::tuple(-a.score, a.row, a.label) < std::tuple(-b.score, b.row, b.label);
    });
    std::vector<ScoredBox> kept;
    for (const ScoredBox& box : boxes) {
        if (kept.size() == most) break;
        const bool stays =
            overlap >= 1 || std::none_of(kept.begin(), kept.end(), [&](const ScoredBox& k) {
                return (any_label || k.label == box.label) &&
                       share_overlap(k.box, box.box) > overlap;
            });
        if (stays) kept.push_back(box);
    }
    return kept;
}

}  // namespace fovea
