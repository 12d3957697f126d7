#pragma once
// Detection: boxes around the things in a picture, each with a label and a score. Any model that
// finds things (models/detection_model.h). The typed interface; training and prediction behind the
// interface of tasks are in detect_task.cpp and detect_predict.cpp.
// Thread-safety: after create() or open(), const calls from several threads are safe while nobody
// trains the model.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/precision.h"
#include "fovea/data/boxes.h"
#include "fovea/metrics/detection.h"
#include "fovea/models/detection_model.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/segment.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

// At which size a model reads a picture: a share of its own, or (DETR's) with the shorter side of
// so many pixels, unless the longer one became too long. In preprocessor_config.json.
struct ReadingSize {
    double share = 1;
    int shortest = 0, longest = 0;  // 0: by the share

    static ReadingSize of(const Json& preprocessor, const std::string& where);
    void put(Json& preprocessor) const;
    struct Sides {
        std::uint32_t height = 1, width = 1;
    };
    Sides sides(std::uint32_t height, std::uint32_t width, int least) const;
};

struct DetectModel {
    ModelFolder folder;  // labels
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const DetectionModel> network;
    PixelScaling scaling;
    ReadingSize reads;
    Precision precision = Precision::f32;

    // A new model. `folder` has the config and the labels.
    static DetectModel create(ModelFolder folder, const ReadingSize& reads, std::uint64_t seed);
    // The body of another model with what knows labels made anew.
    static DetectModel create_from(ModelFolder pretrained, std::vector<std::string> labels,
                                   std::uint64_t seed, ModelFolder::NewHead& report);
    static DetectModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite) const;

    // The picture at the size the model reads it, and as numbers.
    Picture resized(const Picture& picture) const;
    DetectionPictures numbers(const Picture& resized) const;
    DetectionPictures read(const Picture& picture) const { return numbers(resized(picture)); }
    // Boxes in pixels of the picture.
    std::vector<FoundBox> find(const Picture& picture, const FindOptions& options = {}) const;
};

// One picture at a time: its answer depends on nothing else. Once control.stop is true, the rest is
// left out.
std::vector<std::vector<FoundBox>> detect(const DetectModel& model,
                                          std::span<const Picture> pictures,
                                          const FindOptions& options = {},
                                          const PredictControl& control = {});

// COCO's figures over records. Things of labels that the model does not know are an error.
MetricScore score_boxed(const DetectModel& model, std::span<const BoxedPicture> records,
                        const FindOptions& options = {}, const PredictControl& control = {});

// The mean loss of whole pictures.
double loss_boxed(const DetectModel& model, std::span<const BoxedPicture> records);

// Which of `labels` each thing has; an unknown one is an error that names the picture.
int label_of_thing(const BoxedThing& thing, std::span<const std::string> labels,
                   const std::string& where);

// The picture with boxes, labels and scores drawn into it.
Picture draw_boxes(const Picture& picture, std::span<const FoundBox> found,
                   std::span<const std::string> labels);

// One pass over a picture for whoever watches: cells of the encoder, and the decoder's things with
// their boxes where the model has one.
ForwardPass look_for_things(const DetectModel& model, const std::string& path);

std::unique_ptr<Trainer> make_detect_trainer();
std::unique_ptr<Predictor> make_detect_predictor();
void save_detector(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                   bool overwrite);

}  // namespace fovea
