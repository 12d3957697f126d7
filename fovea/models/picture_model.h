#pragma once
// What turns pictures into rows and classes, as a value: tasks never name a model. A new model is
// its own file pair and a row in picture_models().
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/nn/params.h"
#include "fovea/tensor/name_rules.h"
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Pictures of one size, as numbers.
struct PictureBatch {
    Tensor pixels;                         // [pictures, channels, height, width]
    std::vector<std::uint64_t> samples{};  // their names in dropout masks; empty: by their place
};

struct PictureRows {
    Tensor rows;        // [all rows, width]: of each picture first its tokens, then its patches
    Segments segments;  // one a picture
};

// How the rows of an attention lie on the picture, where they are not first tokens and then patches
// line by line.
struct PatchOrder {
    std::string part;                 // of the attention's name; "" fits every one
    std::string name;                 // of these rows, for people
    std::vector<std::string> tokens;  // each row, as a person reads it
    std::vector<int> cells;           // the row of each patch of the grid, line by line
};

struct PictureModel {
    int width = 0, layers = 0, channels = 3, height = 0, image_width = 0;
    int frames = 1;        // of a clip; `channels` are those of all, one frame after the other
    int first_tokens = 1;  // rows before those of the patches
    int grid_height = 0, grid_width = 0;  // patches of a picture of the model's own size
    std::vector<PatchOrder> orders{};     // the first whose part fits counts
    std::function<PictureRows(const PictureBatch&)> rows;
    std::function<Tensor(const PictureRows&)> classes;  // [pictures, classes]
    std::function<int(std::string_view parameter)>
        layer_of;  // 0: before the first; layers + 1: head
};

// What a new model is to be.
struct PictureModelChoice {
    int layers = 6, width = 64, heads = 4, ffn = 256;
    int height = 28, image_width = 28, patch = 4, channels = 3;
    int pictures = 1;                   // of a case: its modalities, or the frames of a clip
    std::string attention = "divided";  // of frames: divided, joint, space
    double dropout = 0;
    std::string stem = "patch";  // vit_stem.h
};

struct PictureModelEntry {
    const char* model_type;
    const char* architecture;  // Hugging Face's, with the head for classes
    Json (*new_config)(const PictureModelChoice& choice);
    PictureModel (*make)(const Json& config, const std::string& where, int classes,
                         const Params& p);
    std::span<const NameRule> (*rules)();
    std::vector<std::string> heads;  // patterns of its head's parameters
};

std::span<const PictureModelEntry> picture_models();
const PictureModelEntry* find_picture_model(const std::string& model_type);
// By config.json's "model_type"; an unknown one is an error that lists those that are known.
const PictureModelEntry& picture_model_of(const Json& config, const std::string& where);

}  // namespace fovea
