#pragma once
// Picture classification: one label for each picture. Any model of pictures
// (models/picture_model.h) under its own head:
//
//   pixels = input(picture)      rows = model(pixels)      p = softmax(head(rows))
//
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/pictures.h"
#include "fovea/data/pictures_input.h"
#include "fovea/models/picture_model.h"
#include "fovea/tasks/classify.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"

namespace fovea {

struct ImageModel {
    ModelFolder folder;  // config and labels; it has no tokenizer
    PictureInput input;  // preprocessor_config.json
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const PictureModel> network;
    Precision precision = Precision::f32;  // of its matrix products

    // A new model. `folder` has the config and the labels.
    static ImageModel create(ModelFolder folder, PictureInput input, std::uint64_t seed);
    // A new head for `labels` on the body of another model of pictures.
    static ImageModel create_from(ModelFolder pretrained, std::vector<std::string> labels,
                                  std::uint64_t seed, ModelFolder::NewHead& report);
    static ImageModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;

    // As many channels as one picture of a case has, where each case has `pictures` of them.
    int channels_of_each(std::size_t pictures) const;
    // A case (one picture, or several whose channels are joined) as the model wants it.
    Picture read(const PictureReader& reader, std::span<const std::string> names) const;
    Tensor logits(const PictureBatch& batch) const {
        return network->classes(network->rows(batch));
    }
};

// Answers for pictures of the model's size. A picture's answer does not depend on its neighbours.
std::vector<TextLabel> classify_pictures(const ImageModel& model, std::span<const Picture> fitted);

// The pictures of labelled records, read by many threads at once; an error names the file. Bad ones
// (up to `skip_bad`) are passed over: `records` and the result then lack them, and `say` hears it.
using ReadPicture =
    std::function<Picture(const PictureReader& reader, std::span<const std::string> names)>;
std::vector<Picture> read_fitted(const ReadPicture& read, std::vector<LabelledText>& records,
                                 std::int64_t skip_bad, const Say& say);
std::vector<Picture> read_fitted(const ImageModel& model, std::vector<LabelledText>& records,
                                 std::int64_t skip_bad, const Say& say);

// A checkpoint's parameters, written like `model` (TaskEntry::save).
void save_image_model(const ModelFolder& model, const ParameterStore& trained,
                      const std::string& out, bool overwrite);

std::unique_ptr<Trainer> make_image_trainer();
std::unique_ptr<Predictor> make_image_predictor();

}  // namespace fovea
