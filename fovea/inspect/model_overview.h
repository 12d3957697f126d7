#pragma once
// What a model is, without running it: architecture, parameters by block, tokenizer, memory. Reads
// the folder's small files and the headers of its weights, not a single weight.
// Thread-safety: plain values and functions.
#include <cstdint>
#include <string>
#include <vector>

#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

// Parameters that belong together: one layer, or what stands beside the layers.
struct ParameterBlock {
    std::string name;      // as in the files: "model.encoder.layers.0", "model.shared"
    std::string folded{};  // "model.encoder.layers.*"; the name itself where it has no number
    std::int64_t tensors = 0, parameters = 0;
    std::int64_t bytes = 0;  // in memory, in the format that was chosen
};

struct ModelOverview {
    std::string folder, task;
    // From config.json: model_type, layers, width, heads, … as far as it names them. Values are
    // numbers and words, or objects of them by stack: {"encoder": 2, "decoder": 2}.
    Json architecture = Json::object();
    std::vector<ParameterBlock> blocks;  // in the order of the files
    Json tokenizer = Json::object();     // kind, size, special tokens; sides of their own
    std::string precision;
    std::int64_t parameters = 0, weight_bytes = 0;
    // About: rows of one layer at work and, for each layer of a decoder, cached keys and values.
    // 0 where config.json names no width.
    std::int64_t bytes_per_token = 0;
    Json about = Json::object();  // fovea.json: metric and data

    Json json() const;         // {"schema": "fovea.model_overview", …}
    std::string text() const;  // tables for people; layers of one size in one line
};

ModelOverview look_over(const ModelFolder& folder, const std::string& precision = "f32");

std::string bytes_text(std::int64_t bytes);  // 512 B  1.5 KiB  12.3 MiB

}  // namespace fovea
