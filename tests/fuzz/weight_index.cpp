#include "fovea/io/weight_index.h"

#include <set>

#include "fovea/base/error.h"
#include "fuzz_targets.h"

namespace fovea {

void fuzz_weight_index(FuzzBytes data) {
    constexpr const char* where = "model.safetensors.index.json";
    try {
        const WeightIndex index = parse_weight_index(text_of_bytes(data), where);
        property(!index.shard_of.empty(), "an index lists tensors");
        std::set<std::string> names;
        for (const auto& [name, shard] : index.shard_of) {
            property(names.insert(name).second, "a tensor has one shard");
            property(shard.find('/') == std::string::npos &&
                         shard.find('\0') == std::string::npos && shard.ends_with(".safetensors"),
                     "shards are plain names");
        }
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(where, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
