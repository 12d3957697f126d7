#pragma once
// One picture through a segmenter: the labels of its pixels, and what the first stages of the
// encoder make of parts of it.
// Thread-safety: immutable after construction.
#include <cstdint>
#include <vector>

#include "fovea/data/components.h"
#include "fovea/tasks/segment.h"

namespace fovea {

class SegmentLook {
public:
    static constexpr std::size_t pooled_stages = 2;  // later ones see too much of the neighbours

    SegmentLook(const SegmentModel& model, const Picture& picture);

    const std::vector<std::uint8_t>& labels() const { return labels_; }
    // Of each component the mean over its pixels of the rows that they fall into, stage after
    // stage.
    std::vector<std::vector<float>> pooled(const Components& components) const;

private:
    std::vector<FeatureMap> maps_;
    std::vector<std::uint8_t> labels_;
};

}  // namespace fovea
