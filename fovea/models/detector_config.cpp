#include "fovea/models/detector_config.h"

#include "fovea/base/json_fields.h"

namespace fovea {

DetectorConfig DetectorConfig::from_json(const Json& json, const std::string& where) {
    DetectorConfig c;
    JsonFields f(json, where);
    f.read("num_channels", c.num_channels, {1, 8});
    f.read("d_model", c.d_model, {8, 1 << 13});
    f.read("encoder_layers", c.encoder_layers, {1, 64});
    f.read("decoder_layers", c.decoder_layers, {0, 64});
    f.read("num_heads", c.num_heads, {1, 1 << 10});
    f.read("ffn_dim", c.ffn_dim, {1, 1 << 15});
    f.read("window", c.window, {0, 1 << 10});
    f.read("reach", c.reach, {1, 1 << 10});
    f.read("num_queries", c.num_queries, {1, 10'000});
    f.read("dropout", c.dropout, {0, 0.999});
    f.read("shrunk", c.shrunk, {0, 1});
    f.read("nms_overlap", c.nms_overlap, {0, 1});
    c.check(where);
    return c;
}

void DetectorConfig::check(const std::string& where, ErrorKind kind) const {
    if (d_model % num_heads != 0)
        fail_with(kind, "columns must split evenly into heads", where, ": ", d_model,
                  " columns do not split into ", num_heads, " heads");
    if (d_model % 8 != 0)  // halves of the stem, and sines and cosines of two coordinates
        fail_with(kind, "96 and 128 are such numbers", where, ": ", d_model,
                  " columns, which are no multiple of 8");
}

Json DetectorConfig::to_json() const {
    Json j;
    j["architectures"] = Json::array({"FoveaDetector"});
    j["model_type"] = "fovea_detector";
    j["num_channels"] = num_channels;
    j["d_model"] = d_model;
    j["encoder_layers"] = encoder_layers;
    j["decoder_layers"] = decoder_layers;
    j["num_heads"] = num_heads;
    j["ffn_dim"] = ffn_dim;
    j["window"] = window;
    j["reach"] = reach;
    j["num_queries"] = num_queries;
    j["dropout"] = dropout;
    j["shrunk"] = shrunk;
    j["nms_overlap"] = nms_overlap;
    return j;
}

}  // namespace fovea
