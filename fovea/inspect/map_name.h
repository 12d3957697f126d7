#pragma once
// What the path of a parameter or an attention says: "model.decoder.layers.1.encoder_attn" is of
// the second layer of the decoder. Nothing here knows a model: paths are read as words and numbers.
// Thread-safety: pure functions.
#include <string>
#include <string_view>

namespace fovea {

struct MapName {
    std::string folded;  // "model.decoder.layers.*.encoder_attn": the same part of every layer
    std::string block;   // "model.decoder.layers.1"; without a number the path but its last word
    std::string stack;   // "decoder": what the layers make up; "" where the path does not say
    int layer = 0;       // from 1; 0: the path has no number
};

// The first word of the path that is a number counts (layers.1, h.11, block.3.layer.0).
MapName read_map_name(std::string_view path);

}  // namespace fovea
