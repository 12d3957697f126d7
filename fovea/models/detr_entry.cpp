// DETR as a row of detection_models(): new models, and the names of others' files.
#include <algorithm>
#include <memory>

#include "fovea/models/detr.h"
#include "fovea/models/text_encoder.h"

namespace fovea {

// A new model's ResNet is small: basic layers, three stages, a sixteenth of the size each way.
Json Detr::new_config(const DetectionModelChoice& choice) {
    DetrConfig c;
    const int width = std::max(choice.width, 2);
    c.backbone = {.num_channels = choice.channels,
                  .embedding_size = width / 2,
                  .hidden_sizes = {width / 2, width, 2 * width},
                  .depths = {1, 1, 1},
                  .bottleneck = false};
    c.d_model = choice.width;
    c.encoder_layers = choice.layers;
    c.decoder_layers = choice.decoder_layers;
    c.encoder_attention_heads = c.decoder_attention_heads = choice.heads;
    c.encoder_ffn_dim = c.decoder_ffn_dim = choice.ffn;
    c.num_queries = choice.queries;
    c.dropout = choice.dropout;
    c.auxiliary_loss = true;
    c.check("model", ErrorKind::usage);
    return c.to_json();
}

DetectionModel Detr::make(const Json& json, const std::string& where, int labels, const Params& p) {
    const DetrConfig c = DetrConfig::from_json(json, where);
    const auto detr = std::make_shared<const Detr>(c, labels, p);
    DetectionModel m;
    m.width = c.d_model;
    m.layers = c.encoder_layers + c.decoder_layers;
    m.channels = c.backbone.num_channels;
    m.stride = c.backbone.stride();
    m.whole_pictures = true;
    m.loss = [detr](const DetectionPictures& pictures, std::span<const PictureThings> things) {
        return detr->loss(pictures, things);
    };
    m.find = [detr](const DetectionPictures& pictures, const FindOptions& options) {
        return detr->find(pictures, options);
    };
    m.layer_of = [c, last = m.layers + 1](std::string_view name) {
        const std::string in = "model.encoder.layers.", out = "model.decoder.layers.";
        if (name.starts_with(in)) return numbered_layer(name, in);
        if (name.starts_with(out)) return c.encoder_layers + numbered_layer(name, out);
        return name.starts_with("model.") && !name.starts_with("model.decoder.") ? 0 : last;
    };
    return m;
}

// What transformers 5 has in memory, and what older files count.
std::span<const NameRule> Detr::rules() {
    static const std::vector<NameRule> rules{
        {.on_disk = "model.**.num_batches_tracked"},
        {.on_disk = "model.**.o_proj.*", .in_model = {"model.**.out_proj.*"}, .load_only = true},
        {.on_disk = "model.**.mlp.fc1.*", .in_model = {"model.**.fc1.*"}, .load_only = true},
        {.on_disk = "model.**.mlp.fc2.*", .in_model = {"model.**.fc2.*"}, .load_only = true},
        {.on_disk = "model.backbone.model.**",
         .in_model = {"model.backbone.conv_encoder.model.**"},
         .load_only = true},
    };
    return rules;
}

}  // namespace fovea
