#include "fovea/models/segformer_config.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/json_fields.h"
#include "fovea/models/activation_names.h"

namespace fovea {
namespace {

std::vector<std::string> labels_of(const Json& json, const std::string& where) {
    std::vector<std::string> labels;
    if (!json.contains("id2label")) return labels;
    const Json& names = json["id2label"];
    if (!names.is_object() || names.size() > 65536)
        fail_with(ErrorKind::bad_input, "{\"0\": \"background\", \"1\": \"cell\"} is such a map",
                  where, ": \"id2label\" is no map of numbers to names");
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto found = names.find(std::to_string(i));
        if (found == names.end() || !found->is_string())
            fail_with(ErrorKind::bad_input, "labels are numbered 0, 1, 2 …", where,
                      ": \"id2label\" has no name for ", i);
        labels.push_back(found->get<std::string>());
    }
    return labels;
}

}  // namespace

int SegformerConfig::layers() const { return std::accumulate(depths.begin(), depths.end(), 0); }

int SegformerConfig::smallest_side() const {
    int stride = 1, side = 1;
    for (std::size_t i = 0; i < strides.size(); ++i) {
        stride *= strides[i];
        side = std::max(side, stride * (sr_ratios[i] - 1) + 1);
    }
    return side;
}

SegformerConfig SegformerConfig::from_json(const Json& json, const std::string& where) {
    SegformerConfig c;
    JsonFields f(json, where);
    const auto read = [&](const char* name, std::vector<int>& v, int most) {
        f.read(name, v, {1, static_cast<double>(most)});
    };
    f.read("num_channels", c.num_channels, {1, 8});
    read("depths", c.depths, 64);
    read("sr_ratios", c.sr_ratios, 64);
    read("hidden_sizes", c.hidden_sizes, 1 << 14);
    read("patch_sizes", c.patch_sizes, 64);
    read("strides", c.strides, 64);
    read("num_attention_heads", c.num_attention_heads, 1 << 10);
    read("mlp_ratios", c.mlp_ratios, 64);
    int stages = c.stages();
    f.read("num_encoder_blocks", stages, {1, 8});
    if (stages != c.stages())
        fail_with(ErrorKind::bad_input, "", where, ": \"num_encoder_blocks\" is ", stages,
                  " but \"depths\" has ", c.stages(), " entries");
    std::string act = config_name_of(c.hidden_act);
    f.read("hidden_act", act);
    c.hidden_act = activation_named(act, "hidden_act", where);
    const NumberRange share{0, 0.999};
    f.read("hidden_dropout_prob", c.hidden_dropout_prob, share);
    f.read("attention_probs_dropout_prob", c.attention_probs_dropout_prob, share);
    f.read("classifier_dropout_prob", c.classifier_dropout_prob, share);
    f.read("drop_path_rate", c.drop_path_rate, share);
    f.read("initializer_range", c.initializer_range, {0, 100});
    f.read("decoder_hidden_size", c.decoder_hidden_size, {1, 1 << 14});
    f.read("semantic_loss_ignore_index", c.semantic_loss_ignore_index, {-1000, 65535});
    c.labels = labels_of(json, where);
    c.check(where);
    return c;
}

void SegformerConfig::check(const std::string& where, ErrorKind kind) const {
    const auto stages_of = [&](const std::vector<int>& v, const char* key) {
        if (v.size() != depths.size() || depths.empty() || depths.size() > 8)
            fail_with(kind, "", where, ": \"", key, "\" has ", v.size(), " entries but \"depths\" ",
                      depths.size(), " (1 to 8 stages are known)");
    };
    stages_of(sr_ratios, "sr_ratios");
    stages_of(hidden_sizes, "hidden_sizes");
    stages_of(patch_sizes, "patch_sizes");
    stages_of(strides, "strides");
    stages_of(num_attention_heads, "num_attention_heads");
    stages_of(mlp_ratios, "mlp_ratios");
    for (std::size_t i = 0; i < depths.size(); ++i)
        if (hidden_sizes[i] % num_attention_heads[i] != 0)
            fail_with(kind, "", where, ": stage ", i, " has ", hidden_sizes[i],
                      " columns, which do not split into ", num_attention_heads[i], " heads");
    if (labels.size() < 2)
        fail_with(kind, "a model of one class has a label for the rest, too", where,
                  ": \"id2label\" has ", labels.size(), " labels but two or more are wanted");
}

Json SegformerConfig::to_json() const {
    Json j;
    j["architectures"] = Json::array({"SegformerForSemanticSegmentation"});
    j["model_type"] = "segformer";
    j["num_channels"] = num_channels;
    j["num_encoder_blocks"] = stages();
    j["depths"] = depths;
    j["sr_ratios"] = sr_ratios;
    j["hidden_sizes"] = hidden_sizes;
    j["patch_sizes"] = patch_sizes;
    j["strides"] = strides;
    j["num_attention_heads"] = num_attention_heads;
    j["mlp_ratios"] = mlp_ratios;
    j["hidden_act"] = config_name_of(hidden_act);
    j["hidden_dropout_prob"] = hidden_dropout_prob;
    j["attention_probs_dropout_prob"] = attention_probs_dropout_prob;
    j["classifier_dropout_prob"] = classifier_dropout_prob;
    j["drop_path_rate"] = drop_path_rate;
    j["initializer_range"] = initializer_range;
    j["decoder_hidden_size"] = decoder_hidden_size;
    j["semantic_loss_ignore_index"] = semantic_loss_ignore_index;
    j["reshape_last_stage"] = true;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        j["id2label"][std::to_string(i)] = labels[i];
        j["label2id"][labels[i]] = i;
    }
    return j;
}

}  // namespace fovea
