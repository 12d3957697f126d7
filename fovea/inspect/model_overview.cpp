#include "fovea/inspect/model_overview.h"

#include <algorithm>

#include "fovea/inspect/map_name.h"
#include "fovea/io/model_weights.h"
#include "fovea/text/spec_kind.h"

namespace fovea {
namespace {

// What config.json may call a fact; a stack of its own where the model has two. The names are
// those of Hugging Face's configs, which every model here uses.
struct ConfigKey {
    const char* key;
    const char* stack = "";
};
struct Fact {
    const char* name;
    std::vector<ConfigKey> keys;
};
const std::vector<Fact>& facts() {
    static const std::vector<Fact> all{
        {"model_type", {{"model_type"}}},
        {"layers",
         {{"encoder_layers", "encoder"},
          {"decoder_layers", "decoder"},
          {"num_hidden_layers"},
          {"n_layer"},
          {"num_layers"}}},
        {"width", {{"d_model"}, {"hidden_size"}, {"n_embd"}}},
        {"heads",
         {{"encoder_attention_heads", "encoder"},
          {"decoder_attention_heads", "decoder"},
          {"num_attention_heads"},
          {"n_head"}}},
        {"feed_forward",
         {{"encoder_ffn_dim", "encoder"},
          {"decoder_ffn_dim", "decoder"},
          {"intermediate_size"},
          {"d_inner"},
          {"n_inner"}}},
        {"activation",
         {{"activation_function"}, {"hidden_act"}, {"ff_activation"}, {"feed_forward_proj"}}},
        {"vocabulary", {{"vocab_size"}}},
        {"positions", {{"max_position_embeddings"}, {"n_positions"}, {"max_relative_position"}}},
        {"position_code", {{"position_embedding_type"}}},
        {"pooling", {{"pooling"}}}};
    return all;
}

// The first name without a stack that is there, or every one with a stack.
Json value_of(const Fact& fact, const Json& config) {
    Json found;
    for (const ConfigKey& k : fact.keys) {
        const auto value = config.find(k.key);
        if (value == config.end() || !value->is_primitive() || value->is_null()) continue;
        if (*k.stack != '\0')
            found[k.stack] = *value;
        else if (found.is_null())
            return *value;
    }
    return found;
}

std::int64_t largest_number(const Json& value) {
    std::int64_t most = 0;
    if (value.is_number_integer()) most = value.get<std::int64_t>();
    if (value.is_object())
        for (const auto& [stack, v] : value.items()) most = std::max(most, largest_number(v));
    return most;
}

bool holds_weights(DType t) {
    return t == DType::F32 || t == DType::F16 || t == DType::BF16 || t == DType::F64;
}

// As ModelFolder::load keeps it: matrices in the format, the rest as f32.
std::int64_t bytes_in_memory(const TensorInfo& t, Format format) {
    const std::int64_t n = t.elements();
    if (format == Format::f32 || t.shape.size() != 2 || t.shape[0] == 1) return 4 * n;
    return format == Format::bf16 ? 2 * n : n + 4 * t.shape[0];  // int8: a scale for each row
}

void count_parameters(ModelOverview& o, Format format) {
    const ModelWeights weights(o.folder);
    for (const std::string& name : weights.names()) {
        const TensorInfo& t = weights.info(name);
        if (!holds_weights(t.dtype)) continue;
        const MapName path = read_map_name(name);
        auto block = std::find_if(o.blocks.begin(), o.blocks.end(),
                                  [&](const ParameterBlock& b) { return b.name == path.block; });
        if (block == o.blocks.end()) {
            const std::size_t dot = path.block.rfind('.');
            o.blocks.push_back(
                {.name = path.block,
                 .folded = path.layer ? path.block.substr(0, dot) + ".*" : path.block});
            block = o.blocks.end() - 1;
        }
        const std::int64_t bytes = bytes_in_memory(t, format);
        block->tensors += 1;
        block->parameters += t.elements();
        block->bytes += bytes;
        o.parameters += t.elements();
        o.weight_bytes += bytes;
    }
}

Json json_of(const Tokenizer& t) {
    Json j{{"kind", kind_of(t.spec())}, {"tokens", t.vocab_size()}, {"special", Json::object()}};
    const std::pair<const char*, std::optional<TokenId>> parts[] = {
        {"bos", t.bos_id()}, {"eos", t.eos_id()}, {"unk", t.unk_id()},  {"sep", t.sep_id()},
        {"pad", t.pad_id()}, {"cls", t.cls_id()}, {"mask", t.mask_id()}};
    for (const auto& [name, id] : parts)
        if (id) j["special"][name] = {{"id", *id}, {"token", t.id_to_token(*id).value_or("")}};
    return j;
}

// Inference, f32 activations: while a layer works, about six rows of its width live (its input,
// queries, keys, values, what attention gives, their sum) or the feed-forward's inner row beside
// two; a decoder's layers keep keys and values of every token, its own and those of the source.
std::int64_t bytes_per_token(const Json& architecture) {
    const auto number = [&](const char* name) {
        return architecture.contains(name) ? largest_number(architecture[name]) : 0;
    };
    const std::int64_t width = number("width"), inner = number("feed_forward");
    std::int64_t kept = 0;
    if (architecture.contains("layers") && architecture["layers"].is_object() &&
        architecture["layers"].contains("decoder"))
        kept = 4 * width * largest_number(architecture["layers"]["decoder"]);
    return 4 * (std::max(6 * width, 3 * width + inner) + kept);
}

}  // namespace

ModelOverview look_over(const ModelFolder& folder, const std::string& precision) {
    ModelOverview o;
    o.folder = folder.path;
    o.task = folder.task;
    for (const Fact& fact : facts())
        if (Json value = value_of(fact, folder.config); !value.is_null())
            o.architecture[fact.name] = std::move(value);
    if (!folder.labels.empty()) o.architecture["labels"] = folder.labels;
    o.precision = precision;
    count_parameters(o, WeightChoice::named(precision).format);
    o.bytes_per_token = bytes_per_token(o.architecture);
    o.tokenizer = json_of(*folder.tokenizer);
    if (folder.target_tokenizer != folder.tokenizer)
        o.tokenizer["target"] = json_of(*folder.target_tokenizer);
    for (const char* part : {"dev", "data", "train_file"})
        if (folder.about.contains(part)) o.about[part] = folder.about[part];
    return o;
}

Json ModelOverview::json() const {
    Json j{{"schema", "fovea.model_overview"}, {"version", 1}, {"model", folder}, {"task", task}};
    j["architecture"] = architecture;
    j["parameters"] = parameters;
    for (const ParameterBlock& b : blocks)
        j["blocks"].push_back({{"name", b.name},
                               {"tensors", b.tensors},
                               {"parameters", b.parameters},
                               {"bytes", b.bytes}});
    j["tokenizer"] = tokenizer;
    j["precision"] = precision;
    j["memory"] = {{"weights", weight_bytes}, {"about_per_token", bytes_per_token}};
    for (const auto& [name, value] : about.items()) j[name] = value;
    return j;
}

}  // namespace fovea
