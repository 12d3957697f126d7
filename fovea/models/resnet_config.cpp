#include "fovea/models/resnet_config.h"

#include "fovea/base/json_fields.h"
#include "fovea/models/activation_names.h"

namespace fovea {
namespace {

// Features must be the last stage's: what stands behind them would be read and never used.
void expect_last_stage(const Json& json, int stages, const std::string& where) {
    if (!json.contains("out_features") || json["out_features"].is_null()) return;
    const Json& names = json["out_features"];
    const std::string last = "stage" + std::to_string(stages);
    if (!names.is_array() || names.empty() || !names.back().is_string() ||
        names.back().get<std::string>() != last)
        fail_with(ErrorKind::bad_input, "\"out_features\": [\"" + last + "\"] is known", where,
                  ": \"out_features\" does not end with the last stage, \"", last, "\"");
}

}  // namespace

ResnetConfig ResnetConfig::from_json(const Json& json, const std::string& where) {
    ResnetConfig c;
    JsonFields f(json, where);
    f.read("num_channels", c.num_channels, {1, 8});
    f.read("embedding_size", c.embedding_size, {1, 1 << 14});
    f.read("hidden_sizes", c.hidden_sizes, {1, 1 << 14});
    f.read("depths", c.depths, {1, 256});
    int type = c.bottleneck ? 1 : 0;
    f.read_choice("layer_type", {"basic", "bottleneck"}, type);
    c.bottleneck = type == 1;
    std::string act = config_name_of(c.hidden_act);
    f.read("hidden_act", act);
    c.hidden_act = activation_named(act, "hidden_act", where);
    f.read("downsample_in_first_stage", c.downsample_in_first_stage);
    f.read("downsample_in_bottleneck", c.downsample_in_bottleneck);
    c.check(where);
    expect_last_stage(json, c.stages(), where);
    return c;
}

void ResnetConfig::check(const std::string& where, ErrorKind kind) const {
    if (depths.empty() || depths.size() > 8 || depths.size() != hidden_sizes.size())
        fail_with(kind, "", where, ": \"depths\" has ", depths.size(),
                  " entries, \"hidden_sizes\" ", hidden_sizes.size(),
                  "; one for each of 1 to 8 stages are wanted");
    for (const int size : hidden_sizes)
        if (bottleneck && size < 4)
            fail_with(kind, "", where, ": a stage of ", size,
                      " columns is too narrow for bottlenecks of a quarter of them");
}

Json ResnetConfig::to_json() const {
    Json j;
    j["model_type"] = "resnet";
    j["num_channels"] = num_channels;
    j["embedding_size"] = embedding_size;
    j["hidden_sizes"] = hidden_sizes;
    j["depths"] = depths;
    j["layer_type"] = bottleneck ? "bottleneck" : "basic";
    j["hidden_act"] = config_name_of(hidden_act);
    j["downsample_in_first_stage"] = downsample_in_first_stage;
    j["downsample_in_bottleneck"] = downsample_in_bottleneck;
    j["out_features"] = Json::array({"stage" + std::to_string(stages())});
    return j;
}

}  // namespace fovea
