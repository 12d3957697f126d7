#pragma once
// From scored boxes to things: overlap, and which of many boxes are kept.
// Thread-safety: pure functions.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

using ShareBox = std::array<float, 4>;  // centre x, centre y, width, height

// |A ∩ B| / |A ∪ B|
float share_overlap(const ShareBox& a, const ShareBox& b);

struct ScoredBox {
    ShareBox box{};
    float score = 0;
    int label = 0;
    std::int32_t row = 0;  // where it was found
};

// The surest first (equal ones by row, then label): a box stays unless it overlaps one of its label
// that stayed by more than `overlap`. At most `most` stay. `any_label`: those of other labels count
// too.
std::vector<ScoredBox> surest_boxes(std::vector<ScoredBox> boxes, float overlap, std::size_t most,
                                    bool any_label = false);

}  // namespace fovea
