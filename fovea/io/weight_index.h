#pragma once
// model.safetensors.index.json: which shard of a model's folder holds which tensor.
// Thread-safety: plain values.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea {

struct WeightIndex {
    std::vector<std::pair<std::string, std::string>>
        shard_of;                            // tensor, file; in the index's order
    std::optional<std::int64_t> total_size;  // bytes of all tensors
};

// File names may not lead out of the folder: only plain names of .safetensors files pass.
WeightIndex parse_weight_index(std::string_view text, const std::string& where);

}  // namespace fovea
