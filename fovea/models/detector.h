#pragma once
// Our detector for small data. Convolutions make a row of each 8 × 8 pixels (a cell); an encoder
// whose layers see a window of cells and the whole picture in turns; a dense head, which says of
// each cell what thing it is the middle of (as FCOS, Tian et al. 2019: a thing is learned by many
// cells, and of boxes that overlap one is kept); and a decoder (detector_decoder.h), which starts
// from the cells that the dense head is surest of and learns one to one, as DETR. Both learn
// together. Norms are over channels, so that a picture's rows do not depend on its neighbours.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <string>
#include <vector>

#include "fovea/models/box_search.h"
#include "fovea/models/detection_model.h"
#include "fovea/models/detector_config.h"
#include "fovea/nn/conv2d.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/multi_head_attention.h"

namespace fovea {

// Places in cells, as numbers: half of the columns for y, half for x; in each, sines first:
//   sin(p / 1000^(4i / width)), cos(…)
// `places`: y and x of each row.
Tensor place_code(std::span<const std::array<float, 2>> places, int width);

// Pixels to cells: 3 × 3 convolutions, of stride 2 but for one, each under a layer norm.
struct DetectorStem {
    DetectorStem(const DetectorConfig& c, const Params& p);
    Tensor operator()(const Tensor& pixels, Grid& grid) const;  // grid becomes that of the cells

    struct Step {
        Conv2d convolution;
        LayerNorm norm;
    };
    std::vector<Step> steps;
};

// One block, pre-norm, which learns where its neighbours are by a depthwise convolution (Chu et al.
// 2021):
//   x' = x + DW(x)      h = x' + Dropout(MultiHead(LN(x')))      y = h + Dropout(FFN(LN(h)))
struct DetectorLayer {
    DetectorLayer(const DetectorConfig& c, const Params& p);
    Tensor operator()(const Tensor& x, const Grid& grid, const Visibility& sees) const;

    Tensor kernels, bias;  // of the depthwise convolution
    LayerNorm norm1, norm2;
    MultiHeadAttention attention;
    Linear fc1, fc2;
    float dropout;
};

// Rows of cells and where they are.
struct CellRows {
    Tensor rows;
    Grid grid;                                 // of cells
    Grid pixels;                               // of the pictures
    std::vector<std::array<float, 2>> places;  // y and x of each row's middle, in cells
    Tensor code;                               // of the places
};

struct DenseOutput {
    Tensor logits;     // [cells, labels]: each says yes or no by itself
    Tensor distances;  // [cells, 4]: from the cell's middle left, up, right, down to the box's edge
};

struct DenseHead {
    DenseHead(const DetectorConfig& c, int labels, const Params& p);
    DenseOutput operator()(const CellRows& cells) const;
    // The boxes of some cells, [n, 4] as shares of the picture.
    Tensor boxes(const DenseOutput& out, const CellRows& cells, const Ids& rows) const;
    Tensor loss(const DenseOutput& out, const CellRows& cells,
                std::span<const PictureThings> things) const;
    // All boxes with their labels' scores, picture by picture; no tape is alive.
    std::vector<std::vector<ScoredBox>> scored(const DenseOutput& out, const CellRows& cells,
                                               float least) const;

    std::vector<DetectorStem::Step> tower;
    Tensor class_weight, class_bias, box_weight, box_bias;
    DetectorConfig config;
};

// The thing that a cell learns, as its place in its picture's list, −1 for none: cells whose middle
// is in the shrunk box of a thing, the one in its centre at least. The smallest thing wins.
std::vector<int> cell_things(const PictureThings& things, const Grid& cells, const Grid& pixels,
                             double shrunk);

struct DetectorEncoder {
    DetectorEncoder(const DetectorConfig& c, const Params& p);
    CellRows operator()(const DetectionPictures& pictures) const;

    DetectorConfig config;
    DetectorStem stem;
    std::vector<DetectorLayer> layers;
    LayerNorm norm;
};

struct Detector {
    static constexpr const char* model_type = "fovea_detector";
    static constexpr const char* architecture = "FoveaDetector";

    static Json new_config(const DetectionModelChoice& choice);
    static DetectionModel make(const Json& config, const std::string& where, int labels,
                               const Params& p);
    static std::span<const NameRule> rules() { return {}; }
};

}  // namespace fovea
