#pragma once
// What finds things in pictures, as a value: tasks never name a model. A new model is its own file
// pair and a row in detection_models().
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/grid.h"
#include "fovea/base/json.h"
#include "fovea/nn/params.h"
#include "fovea/tensor/name_rules.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Pictures of one size, as numbers.
struct DetectionPictures {
    Tensor rows;                           // [grid.rows(), channels]: pixels, scaled
    Grid grid;                             // their number and size
    std::vector<std::uint64_t> samples{};  // their names in dropout masks; empty: by their place
    // Of parts of larger pictures: where they lie in them (y, x, in pixels), for models whose
    // positions should not depend on the cut. Empty: at 0, 0.
    std::vector<std::array<float, 2>> corners{};
};

// A box is its centre's x and y, its width and height, as shares of the picture's.
struct Thing {
    std::array<float, 4> box{};
    int label = 0;
};
using PictureThings = std::vector<Thing>;

struct FoundThing {
    std::array<float, 4> box{};  // as that of a Thing
    int label = 0;
    float score = 0;  // 0 … 1
    int query = -1;   // whose answer it is, of the picture's queries; -1: of none
};

struct FindOptions {
    std::string head{};  // one of DetectionModel::heads; empty: the first
    int most = 100;      // things of a picture, the surest ones
    float least = 0.0f;  // score of a thing
};

struct DetectionModel {
    int width = 0, layers = 0, channels = 3;
    int stride = 1;                             // pixels, each way, of one row of the encoder
    int smallest_side = 1;                      // of a picture, in pixels
    std::vector<std::string> heads{"decoder"};  // ways to find; the first is the usual one
    // Places are told as shares of what is seen: parts would not teach it to read whole pictures.
    bool whole_pictures = false;
    // A number to learn from: the mean over the batch, everything auxiliary in it.
    std::function<Tensor(const DetectionPictures&, std::span<const PictureThings>)> loss;
    // Of each picture, the surest things first. No tape is alive.
    std::function<std::vector<std::vector<FoundThing>>(const DetectionPictures&,
                                                       const FindOptions&)>
        find;
    std::function<int(std::string_view parameter)>
        layer_of;  // 0: before the first; layers + 1: head
};

// What a new model is to be.
struct DetectionModelChoice {
    int layers = 4, decoder_layers = 3, width = 96, heads = 4, ffn = 384;
    int queries = 100, channels = 3;
    double dropout = 0;
};

struct DetectionModelEntry {
    const char* model_type;
    const char* architecture;  // Hugging Face's, or our own
    Json (*new_config)(const DetectionModelChoice& choice);
    DetectionModel (*make)(const Json& config, const std::string& where, int labels,
                           const Params& p);
    std::span<const NameRule> (*rules)();
    std::vector<std::string> heads;  // patterns of the parameters that know labels
};

std::span<const DetectionModelEntry> detection_models();
const DetectionModelEntry* find_detection_model(const std::string& model_type);
// By config.json's "model_type"; an unknown one is an error that lists those that are known.
const DetectionModelEntry& detection_model_of(const Json& config, const std::string& where);

}  // namespace fovea
