#pragma once
// Sizes and choices of our detector for small data (detector.h).
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <string>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {

struct DetectorConfig {
    static constexpr int stride = 8;  // pixels of a cell, each way

    int num_channels = 3;
    int d_model = 96;
    int encoder_layers = 4;  // seeing a window and everything in turns
    int decoder_layers = 3;  // 0: the dense head alone
    int num_heads = 4;
    int ffn_dim = 384;
    int window = 3;         // cells that a row of a window layer sees, each way
    int reach = 64;         // cells from a thing's cell to the edges of its box, at most
    int num_queries = 100;  // of the decoder
    double dropout = 0;
    double shrunk = 0.4;       // a thing is learned by the cells in this share of its box
    double nms_overlap = 0.6;  // boxes of one label that overlap more are one thing

    static DetectorConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
    // Sizes that cannot be are one clear error: bad_input for a file, usage for a choice.
    void check(const std::string& where, ErrorKind kind = ErrorKind::bad_input) const;
};

}  // namespace fovea
