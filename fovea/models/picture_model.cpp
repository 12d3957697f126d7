#include "fovea/models/picture_model.h"

#include "fovea/base/error.h"
#include "fovea/models/deit.h"
#include "fovea/models/text_encoder.h"
#include "fovea/models/timesformer.h"
#include "fovea/models/vit.h"

namespace fovea {

std::span<const PictureModelEntry> picture_models() {
    static const PictureModelEntry table[] = {
        {Vit::model_type,
         Vit::architecture,
         Vit::new_config,
         Vit::make,
         Vit::rules,
         {"classifier.**"}},
        {Deit::model_type,
         Deit::architecture,
         Deit::new_config,
         Deit::make,
         Deit::rules,
         {"classifier.**", "cls_classifier.**", "distillation_classifier.**"}},
        {Timesformer::model_type,
         "TimesformerForVideoClassification",
         Timesformer::new_config,
         Timesformer::make,
         Timesformer::rules,
         {"classifier.**"}},
    };
    return table;
}

const PictureModelEntry* find_picture_model(const std::string& model_type) {
    for (const PictureModelEntry& e : picture_models())
        if (model_type == e.model_type) return &e;
    return nullptr;
}

const PictureModelEntry& picture_model_of(const Json& config, const std::string& where) {
    const std::string type = model_type_of(config);
    if (const PictureModelEntry* e = find_picture_model(type)) return *e;
    std::string known;
    for (const PictureModelEntry& e : picture_models())
        known += (known.empty() ? "" : ", ") + std::string(e.model_type);
    fail_with(ErrorKind::bad_input, "known models of pictures: " + known, where,
              ": \"model_type\" is \"", type, "\", which is no model of pictures");
}

}  // namespace fovea
