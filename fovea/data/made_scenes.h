#pragma once
// Scenes with masks, made of labelled pictures on dark ground (Fashion-MNIST's garments): a few of
// them set on a canvas, each larger or smaller, later ones before earlier ones. The mask has 0 for
// the ground and 1, 2, … for the labels in their order.
// Thread-safety: const calls from several threads are safe.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/made_shapes.h"
#include "fovea/io/picture.h"

namespace fovea {

struct MadeScenes {
    std::string pictures;  // labelled ones, as data/pictures.h reads them
    std::int64_t count = 100;
    std::uint32_t size = 96;            // pixels each way
    int fewest = 2, most = 5;           // pictures on a canvas
    double least = 0.9, largest = 1.6;  // scale on a canvas of 96 pixels; others in proportion
    std::uint64_t seed = 1;
};

class SceneMaker {
public:
    explicit SceneMaker(const MadeScenes& options);  // reads the pictures

    ShapesPicture scene(std::int64_t i) const;  // depends on (seed, i) alone
    const std::vector<std::string>& labels() const { return labels_; }

private:
    MadeScenes options_;
    std::vector<std::string> labels_;
    std::vector<Picture> pictures_;
    std::vector<std::uint8_t> values_;  // of each picture, in masks
};

// All of them, as FOLDER/images/00000.png and FOLDER/masks/00000.png.
void write_made_scenes(const MadeScenes& options, const std::string& folder);

}  // namespace fovea
