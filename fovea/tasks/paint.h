#pragma once
// Pictures painted pixel by pixel: GPT-2 over grey levels, after a token that names the class
// (Chen et al. 2020, "Generative Pretraining from Pixels"; PixelCNN's order, van den Oord et al.
// 2016: rows from the top, in a row from the left).
//
//   p(picture | class) = Π_t p(pixel t | class, pixels before t)
//
// The class stands before the first pixel; grey level v is token v, class c token 256 + c. A layer
// sees the class and a window of pixels (nn/attention_kind.h: hybrid:84 are three rows of 28).
// Thread-safety: after create() or open(), const calls from several threads are safe while nobody
// trains the model.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/pictures.h"
#include "fovea/data/pictures_input.h"
#include "fovea/infer/search_options.h"
#include "fovea/metrics/score.h"
#include "fovea/models/text_encoder.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

inline constexpr int grey_levels = 256;

struct PaintChoice {
    int layers = 4, width = 96, heads = 6;
    std::optional<int> ffn{};  // four times the width
    float dropout = 0;
    std::string attention = "hybrid:84";
    std::uint32_t picture_height = 28, picture_width = 28;
};

struct PaintModel {
    static constexpr const char* model_type = "fovea_pixels";

    ModelFolder folder;  // config and labels; it has no tokenizer
    PictureInput input;  // the size of its pictures, which are grey
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const TextEncoder> network;
    Precision precision = Precision::f32;  // of its matrix products

    static PaintModel create(const PaintChoice& choice, std::vector<std::string> labels,
                             std::uint64_t seed);
    static PaintModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;

    std::int64_t pixels() const { return std::int64_t{input.height} * input.width; }
    // The number of a label; one that the model does not know is a usage error that lists them.
    std::size_t class_of(const std::string& label) const;
    Picture read(const PictureReader& reader, std::span<const std::string> names) const;
    // What is read to foretell the pixels of a fitted picture: its class and all pixels but the
    // last.
    Ids tokens(const Picture& fitted, std::size_t label) const;
};

// -ln p(picture | class) of each, summed over its pixels. A picture's number does not depend on its
// neighbours.
std::vector<double> nats_of_pictures(const PaintModel& model, std::span<const Picture> fitted,
                                     std::span<const std::size_t> labels,
                                     const PredictControl& control = {});

// Bits for each pixel, the mean over all pixels of all pictures; figures: loss (in nats), and the
// bits of each label's pictures.
MetricScore bits_per_dim(const PaintModel& model, std::span<const double> nats,
                         std::span<const std::size_t> labels);

struct PaintRequest {
    std::size_t label = 0;
    std::uint64_t number = 0;        // names its random draws
    const Picture* begun = nullptr;  // a fitted picture, whose upper rows are given
    std::uint32_t given_rows = 0;
};

// Samples: as many as requests. `search` has temperature, top_k, top_p, min_p and the seed; a
// picture depends on its request and these alone, not on the batch. Once control.stop is true, the
// rest is left empty.
std::vector<Picture> paint(const PaintModel& model, std::span<const PaintRequest> requests,
                           const SearchOptions& search, std::size_t batch = 64,
                           const PredictControl& control = {});

// What pictures cost where every pixel is told by how often each grey level stood at its place in
// `known` (one more of each than was seen), in bits for each pixel: no model should cost more.
double independent_bits(std::span<const Picture> known, std::span<const Picture> told);

std::unique_ptr<Trainer> make_paint_trainer();
std::unique_ptr<Predictor> make_paint_predictor();
void save_painter(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                  bool overwrite);

}  // namespace fovea
