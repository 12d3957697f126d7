#include "fovea/models/deit.h"

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {
namespace {

// The second row of each picture.
Tensor distillation_rows(const PictureRows& x) {
    Ids at;
    for (std::int64_t i = 0; i < x.segments.count(); ++i)
        at.push_back(static_cast<std::int32_t>(x.segments.begin(i) + 1));
    return gather_rows(x.rows, at);
}

bool has_one_head(const Json& config) {
    return config.contains("architectures") && config["architectures"].is_array() &&
           !config["architectures"].empty() &&
           config["architectures"][0] == "DeiTForImageClassification";
}

}  // namespace

Json Deit::new_config(const PictureModelChoice& choice) {
    return vit_config_for(choice).to_json(model_type);
}

PictureModel Deit::make(const Json& config, const std::string& where, int classes,
                        const Params& p) {
    const VitConfig c = vit_config_of(config, where);
    constexpr const char* tokens[] = {"cls_token", "distillation_token"};
    const VitModel body(c, tokens, p / "deit");
    PictureModel m = vit_picture_model(c, body, "deit");
    const auto head = [&](const char* name) {
        return Linear(c.hidden_size, classes, p / name, vit_init(c));
    };
    if (has_one_head(config)) {
        m.classes = [one = head("classifier")](const PictureRows& x) {
            return one(segment_first(x.rows, x.segments));
        };
        return m;
    }
    m.classes = [of_class = head("cls_classifier"),
                 of_teacher = head("distillation_classifier")](const PictureRows& x) {
        return 0.5f *
               (of_class(segment_first(x.rows, x.segments)) + of_teacher(distillation_rows(x)));
    };
    return m;
}

std::span<const NameRule> Deit::rules() {
    static const std::vector<NameRule> all = vit_rules("deit");
    return all;
}

}  // namespace fovea
