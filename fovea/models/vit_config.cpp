#include "fovea/models/vit_config.h"

#include "fovea/base/json_fields.h"
#include "fovea/models/activation_names.h"

namespace fovea {
namespace {

// 224, or [224, 160]: height and width.
void read_sides(JsonFields& f, const char* name, int& height, int& width) {
    if (!f.has(name)) return;
    if (!f.json()[name].is_array()) {
        f.read(name, height);
        width = height;
        return;
    }
    std::vector<int> both;
    f.read(JsonFields::Names{name}, both);
    if (both.size() != 2) f.fail_field(name, "must be a number or two");
    height = both[0];
    width = both[1];
}

Json written_sides(int height, int width) {
    return height == width ? Json(height) : Json{height, width};
}

}  // namespace

void VitConfig::check(const std::string& where, ErrorKind kind) const {
    const auto within = [&](int n, const char* key, int most) {
        if (n < 1 || n > most)
            fail_with(kind, "", where, ": \"", key, "\" is ", n, " but must be between 1 and ",
                      most);
    };
    within(hidden_size, "hidden_size", 1 << 16);
    within(num_hidden_layers, "num_hidden_layers", 512);
    within(num_attention_heads, "num_attention_heads", hidden_size);
    within(intermediate_size, "intermediate_size", 1 << 20);
    within(image_height, "image_size", 8192);
    within(image_width, "image_size", 8192);
    within(patch_height, "patch_size", image_height);
    within(patch_width, "patch_size", image_width);
    within(num_channels, "num_channels", 16);
    if (hidden_size % num_attention_heads != 0)
        fail_with(kind, "", where, ": \"hidden_size\" ", hidden_size, " does not split into ",
                  num_attention_heads, " heads");
    if (image_height % patch_height != 0 || image_width % patch_width != 0)
        fail_with(kind, "choose a size that patches fill", where, ": pictures of ", image_width,
                  " × ", image_height, " do not split into patches of ", patch_width, " × ",
                  patch_height);
    if (patches() > 1 << 16)
        fail_with(kind, "larger patches make fewer of them", where, ": ", patches(),
                  " patches, but at most 65536 can be");
}

void VitConfig::read(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    bool bias = true;
    f.read("qkv_bias", bias);
    if (!bias) f.fail_field("qkv_bias", "must be true: other models are not known");
    std::string act = config_name_of(hidden_act);
    f.read("hidden_size", hidden_size);
    f.read("num_hidden_layers", num_hidden_layers);
    f.read("num_attention_heads", num_attention_heads);
    f.read("intermediate_size", intermediate_size);
    read_sides(f, "image_size", image_height, image_width);
    read_sides(f, "patch_size", patch_height, patch_width);
    f.read("num_channels", num_channels);
    f.read("hidden_act", act);
    const NumberRange share{0, 0.999};
    f.read("hidden_dropout_prob", hidden_dropout_prob, share);
    f.read("attention_probs_dropout_prob", attention_probs_dropout_prob, share);
    f.read("layer_norm_eps", layer_norm_eps, {1e-30, 1});
    f.read("initializer_range", initializer_range, {0, 100});
    hidden_act = activation_named(act, "hidden_act", where);
}

Json VitConfig::to_json(const char* model_type) const {
    Json j;
    j["model_type"] = model_type;
    j["hidden_size"] = hidden_size;
    j["num_hidden_layers"] = num_hidden_layers;
    j["num_attention_heads"] = num_attention_heads;
    j["intermediate_size"] = intermediate_size;
    j["image_size"] = written_sides(image_height, image_width);
    j["patch_size"] = written_sides(patch_height, patch_width);
    j["num_channels"] = num_channels;
    j["hidden_act"] = config_name_of(hidden_act);
    j["hidden_dropout_prob"] = hidden_dropout_prob;
    j["attention_probs_dropout_prob"] = attention_probs_dropout_prob;
    j["layer_norm_eps"] = layer_norm_eps;
    j["initializer_range"] = initializer_range;
    j["qkv_bias"] = true;
    return j;
}

}  // namespace fovea
