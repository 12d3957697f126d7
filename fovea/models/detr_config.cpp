#include "fovea/models/detr_config.h"

#include "fovea/base/json_fields.h"
#include "fovea/models/activation_names.h"

namespace fovea {
namespace {

ResnetConfig backbone_of(const Json& json, const std::string& where) {
    const std::string known =
        "Hugging Face's own ResNet is known: \"use_timm_backbone\": false and "
        "a \"backbone_config\" (revision \"no_timm\" of facebook's models)";
    const bool there = json.contains("backbone_config") && json["backbone_config"].is_object();
    const bool timm = json.contains("use_timm_backbone") &&
                      json["use_timm_backbone"].is_boolean() &&
                      json["use_timm_backbone"].get<bool>();
    if (timm || !there)
        fail_with(ErrorKind::bad_input, known, where, ": the backbone is one of the timm library");
    const Json& backbone = json["backbone_config"];
    std::string type = "resnet";
    JsonFields(backbone, where).read("model_type", type);
    if (type != "resnet")
        fail_with(ErrorKind::bad_input, known, where, ": the backbone is a \"", type, "\"");
    return ResnetConfig::from_json(backbone, where + ": backbone_config");
}

void read_transformer(JsonFields& f, DetrConfig& c) {
    f.read("d_model", c.d_model, {4, 1 << 14});
    f.read("encoder_layers", c.encoder_layers, {0, 256});
    f.read("encoder_attention_heads", c.encoder_attention_heads, {1, 1 << 10});
    f.read("encoder_ffn_dim", c.encoder_ffn_dim, {1, 1 << 16});
    f.read("decoder_layers", c.decoder_layers, {1, 256});
    f.read("decoder_attention_heads", c.decoder_attention_heads, {1, 1 << 10});
    f.read("decoder_ffn_dim", c.decoder_ffn_dim, {1, 1 << 16});
    f.read("num_queries", c.num_queries, {1, 1 << 14});
    const NumberRange share{0, 0.999};
    f.read("dropout", c.dropout, share);
    f.read("attention_dropout", c.attention_dropout, share);
    f.read("activation_dropout", c.activation_dropout, share);
}

void read_loss(JsonFields& f, DetrConfig& c) {
    const NumberRange weight{0, 1e6};
    f.read("auxiliary_loss", c.auxiliary_loss);
    f.read("class_cost", c.class_cost, weight);
    f.read("bbox_cost", c.bbox_cost, weight);
    f.read("giou_cost", c.giou_cost, weight);
    f.read("bbox_loss_coefficient", c.bbox_loss_coefficient, weight);
    f.read("giou_loss_coefficient", c.giou_loss_coefficient, weight);
    f.read("eos_coefficient", c.eos_coefficient, weight);
}

// transformers takes these weights as whole numbers alone, and refuses 1.0.
Json whole_if_it_is(double weight) {
    const auto whole = static_cast<std::int64_t>(weight);
    return static_cast<double>(whole) == weight ? Json(whole) : Json(weight);
}

}  // namespace

DetrConfig DetrConfig::from_json(const Json& json, const std::string& where) {
    DetrConfig c;
    JsonFields f(json, where);
    c.backbone = backbone_of(json, where);
    read_transformer(f, c);
    read_loss(f, c);
    std::string act = config_name_of(c.activation_function);
    f.read("activation_function", act);
    c.activation_function = activation_named(act, "activation_function", where);
    std::string positions = "sine";
    f.read("position_embedding_type", positions);
    if (positions != "sine")
        fail_with(ErrorKind::bad_input, "\"sine\" is known", where,
                  ": \"position_embedding_type\" is \"", positions, "\"");
    bool dilation = false;
    f.read("dilation", dilation);
    if (dilation)
        fail_with(ErrorKind::bad_input, "models without dilation are known", where,
                  ": \"dilation\" is true");
    c.check(where);
    return c;
}

void DetrConfig::check(const std::string& where, ErrorKind kind) const {
    backbone.check(where, kind);
    if (d_model % 4 != 0)
        fail_with(kind, "", where, ": \"d_model\" is ", d_model,
                  ", but sines of two directions need a multiple of 4");
    for (const int heads : {encoder_attention_heads, decoder_attention_heads})
        if (d_model % heads != 0)
            fail_with(kind, "", where, ": ", d_model, " columns do not split into ", heads,
                      " heads");
}

Json DetrConfig::to_json() const {
    Json j;
    j["architectures"] = Json::array({"DetrForObjectDetection"});
    j["model_type"] = "detr";
    j["use_timm_backbone"] = false;
    j["use_pretrained_backbone"] = false;
    j["backbone"] = nullptr;
    j["backbone_config"] = backbone.to_json();
    j["num_channels"] = backbone.num_channels;
    j["d_model"] = d_model;
    j["encoder_layers"] = encoder_layers;
    j["encoder_attention_heads"] = encoder_attention_heads;
    j["encoder_ffn_dim"] = encoder_ffn_dim;
    j["decoder_layers"] = decoder_layers;
    j["decoder_attention_heads"] = decoder_attention_heads;
    j["decoder_ffn_dim"] = decoder_ffn_dim;
    j["num_queries"] = num_queries;
    j["activation_function"] = config_name_of(activation_function);
    j["dropout"] = dropout;
    j["attention_dropout"] = attention_dropout;
    j["activation_dropout"] = activation_dropout;
    j["position_embedding_type"] = "sine";
    j["auxiliary_loss"] = auxiliary_loss;
    j["class_cost"] = whole_if_it_is(class_cost);
    j["bbox_cost"] = whole_if_it_is(bbox_cost);
    j["giou_cost"] = whole_if_it_is(giou_cost);
    j["bbox_loss_coefficient"] = whole_if_it_is(bbox_loss_coefficient);
    j["giou_loss_coefficient"] = whole_if_it_is(giou_loss_coefficient);
    j["eos_coefficient"] = eos_coefficient;
    return j;
}

}  // namespace fovea
