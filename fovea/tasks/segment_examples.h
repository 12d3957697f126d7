#pragma once
// Pictures and masks as batches to learn from: cut to one size, turned, flipped, scaled and lit
// differently in each epoch. What is drawn for a sample is a function of seed, epoch and sample: it
// does not depend on the batch or on where a run was resumed.
// Thread-safety: const calls from several threads are safe.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/base/grid.h"
#include "fovea/data/masks.h"
#include "fovea/tasks/segment.h"

namespace fovea {

struct SegmentExamples {
    std::vector<MaskedPicture> records;
    MaskValues values;
    PixelScaling scaling;
    std::uint32_t size = 256;  // of the square part that is learned from
    bool augment = true;
    std::uint64_t seed = 1;

    struct Batch {
        Tensor pixels;  // [grid.rows(), channels], rows named by the samples
        Grid grid;
        Ids labels;  // of each row
    };
    Batch batch(std::span<const std::int64_t> samples, std::int64_t epoch) const;
};

}  // namespace fovea
