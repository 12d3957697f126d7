#pragma once
// Segmentation: a label for each pixel of a picture (SegFormer). The typed interface; training and
// prediction behind the interface of tasks are in segment_task.cpp and segment_predict.cpp.
// Thread-safety: after create() or open(), const calls from several threads are safe while nobody
// trains the model.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/precision.h"
#include "fovea/data/masks.h"
#include "fovea/data/pixel_scaling.h"
#include "fovea/metrics/masks.h"
#include "fovea/models/segformer.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

struct SegmentModel {
    ModelFolder folder;  // labels; about["mask_values"]: the numbers of masks
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const Segformer> network;
    MaskValues values;
    PixelScaling scaling;
    Precision precision = Precision::f32;

    static SegmentModel create(const SegformerConfig& config, const MaskValues& values,
                               std::uint64_t seed);
    static SegmentModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite) const;
    int channels() const { return network->config.num_channels; }

    // What the network reads of a picture. Small ones are enlarged for it.
    FeatureMap pixels(const Picture& picture) const;
    // Logits of the labels for each pixel, [height · width, labels], of the picture's own size.
    Tensor logits(const Picture& picture) const;
};

struct SegmentedPicture {
    std::uint32_t height = 0, width = 0;
    std::vector<std::uint8_t> labels;  // of each pixel
    std::vector<double> shares;        // of all pixels, for each label
};

// The likeliest label of each pixel, by its logits.
SegmentedPicture segmented(const Tensor& logits, const Picture& picture);

// One picture at a time: its answer depends on nothing else. Once control.stop is true, the rest is
// left out.
std::vector<SegmentedPicture> segment(const SegmentModel& model, std::span<const Picture> pictures,
                                      const PredictControl& control = {});

// The picture with each label but the first in a colour of its own, edges drawn through.
Picture draw_masks(const Picture& picture, const SegmentedPicture& found);

// Dice and IoU over records, with the mean cross-entropy of pixels as figure "loss". `baseline`:
// the score of Otsu's threshold on the same pictures, of models of two labels.
struct SegmentScores {
    MetricScore model;
    MaskScore baseline;
};
SegmentScores score_masked(const SegmentModel& model, std::span<const MaskedPicture> records,
                           bool with_baseline = false, const PredictControl& control = {});

// One pass over a picture for whoever watches (a Probe): the attention of the last stage.
ForwardPass look_at_cells(const SegmentModel& model, const std::string& path);

std::unique_ptr<Trainer> make_segment_trainer();
std::unique_ptr<Predictor> make_segment_predictor();
void save_segmenter(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                    bool overwrite);

}  // namespace fovea
