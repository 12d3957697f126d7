#include "fovea/io/weight_index.h"

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

bool is_plain_shard_name(const std::string& name) {
    return !name.empty() && name.find('/') == std::string::npos &&
           name.find('\\') == std::string::npos && name.find('\0') == std::string::npos &&
           name.ends_with(".safetensors");
}

std::optional<std::int64_t> total_size_of(const Json& index, const std::string& where) {
    if (!index.contains("metadata") || !index["metadata"].contains("total_size")) return {};
    const Json& size = index["metadata"]["total_size"];
    expect_input(size.is_number_integer(), where, ": total_size is ", to_text(size),
                 ", which is no number of bytes");
    return size.get<std::int64_t>();
}

}  // namespace

WeightIndex parse_weight_index(std::string_view text, const std::string& where) {
    const Json json = parse_json(text, where);
    expect_input(json.is_object() && json.contains("weight_map") &&
                     json["weight_map"].is_object() && !json["weight_map"].empty(),
                 where, ": holds no weight_map");
    WeightIndex index;
    for (const auto& [name, file] : json["weight_map"].items()) {
        expect_input(file.is_string(), where, ": weight_map[", to_text(Json(name)),
                     "] is not a file name");
        const auto shard = file.get<std::string>();
        expect_input(is_plain_shard_name(shard), where, ": weight_map names the file ",
                     to_text(file),
                     " but only plain names of .safetensors files beside it are allowed");
        index.shard_of.emplace_back(name, shard);
    }
    index.total_size = total_size_of(json, where);
    return index;
}

}  // namespace fovea
