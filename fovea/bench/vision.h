#pragma once
// `fovea bench vision`: ViT-B/16 and SegFormer-B0 reading pictures, updates of ViT-Ti/16, of a ViT
// for small pictures and of SegFormer-B0, with random weights, beside PyTorch in turns; JPEG files
// decoded and resized beside Pillow, and log-mel frames beside transformers' feature extractor.
#include <vector>

#include "fovea/bench/model_bench.h"

namespace fovea::bench {

std::vector<Row> bench_vision(const ModelBenchOptions& options);

}  // namespace fovea::bench
