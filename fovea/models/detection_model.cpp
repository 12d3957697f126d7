#include "fovea/models/detection_model.h"

#include "fovea/base/error.h"
#include "fovea/models/detector.h"
#include "fovea/models/detr.h"
#include "fovea/models/text_encoder.h"

namespace fovea {

std::span<const DetectionModelEntry> detection_models() {
    static const DetectionModelEntry table[] = {
        {Detector::model_type,
         Detector::architecture,
         Detector::new_config,
         Detector::make,
         Detector::rules,
         {"dense.classes.**", "decoder.classes.**"}},
        {Detr::model_type,
         Detr::architecture,
         Detr::new_config,
         Detr::make,
         Detr::rules,
         {"class_labels_classifier.**"}},
    };
    return table;
}

const DetectionModelEntry* find_detection_model(const std::string& model_type) {
    for (const DetectionModelEntry& e : detection_models())
        if (model_type == e.model_type) return &e;
    return nullptr;
}

const DetectionModelEntry& detection_model_of(const Json& config, const std::string& where) {
    const std::string type = model_type_of(config);
    if (const DetectionModelEntry* e = find_detection_model(type)) return *e;
    std::string known;
    for (const DetectionModelEntry& e : detection_models())
        known += (known.empty() ? "" : ", ") + std::string(e.model_type);
    fail_with(ErrorKind::bad_input, "known models that find things: " + known, where,
              ": \"model_type\" is \"", type, "\", which is no model that finds things");
}

}  // namespace fovea
