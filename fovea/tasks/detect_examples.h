#pragma once
// Pictures and their boxes as batches to learn from: cut to one size, scaled, mirrored, turned and
// lit differently in each epoch; boxes follow. What is drawn for a sample is a function of seed,
// epoch and sample: it does not depend on the batch or on where a run was resumed.
// Thread-safety: const calls from several threads are safe.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/data/boxes.h"
#include "fovea/tasks/detect.h"

namespace fovea {

struct DetectExamples {
    std::vector<BoxedPicture> records;
    std::vector<std::string> labels;
    PixelScaling scaling;
    ReadingSize reads;
    // Of the part that is learned from, as the model reads it: a square, or a whole picture.
    ReadingSize::Sides sides{256, 256};
    AugmentOptions augment;
    std::uint64_t seed = 1;

    struct Batch {
        DetectionPictures pictures;
        std::vector<PictureThings> things;
    };
    Batch batch(std::span<const std::int64_t> samples, std::int64_t epoch) const;

private:
    struct Shown {
        Picture picture;
        PictureThings things;
        std::array<float, 2> corner{};
    };
    Shown shown(std::size_t sample, std::int64_t epoch) const;
};

}  // namespace fovea
