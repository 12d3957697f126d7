#pragma once
// What a classifier of pictures learns from, and what a new one is made like by a look at them.
// Not thread-safe: it belongs to one trainer.
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/settings.h"
#include "fovea/data/pictures.h"
#include "fovea/data/pictures_input.h"
#include "fovea/models/picture_model.h"
#include "fovea/tasks/classify_data.h"

namespace fovea {

struct ImageData {
    ImageData();
    void describe(Settings& settings);
    void read(const RunSettings& run, const Say& say) { labelled.read(run, say); }

    ClassifyData labelled;  // its texts are names of pictures

private:
    std::shared_ptr<PictureReader> reader_ = std::make_shared<PictureReader>();
};

LabelledPictures as_pictures(const LabelledFiles& files);

// Sizes of a new model.
struct ImageSizes {
    std::string model = "auto", attention = "divided", stem = "patch";
    std::optional<int> layers, width, heads, ffn, image_size, patch, channels;
    double dropout = 0;

    void describe(Settings& settings);
    // What nobody chose follows from the first pictures: their colours, and their size up to 64.
    // Clips (folders of frames) are for `timesformer`; several modalities of a case are not clips.
    PictureModelChoice settle(const std::vector<LabelledText>& records, std::int64_t skip_bad,
                              const Say& say);
};

}  // namespace fovea
