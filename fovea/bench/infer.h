#pragma once
// `fovea bench infer`: BERT-base reading sentences and GPT-2 124M decoding, with random weights,
// beside PyTorch and ONNX Runtime in turns in one run.
#include <string>
#include <vector>

#include "fovea/bench/model_bench.h"

namespace fovea::bench {

struct InferBenchOptions : ModelBenchOptions {
    std::vector<std::string> precisions = {"f32", "bf16", "int8", "int7"};
};

std::vector<Row> bench_infer(const InferBenchOptions& options);

// Lengths of sentences like those people write: about log-normal, 25 tokens in the mean, 4 to 128.
std::vector<std::int64_t> sentence_lengths(int count, std::uint64_t seed);

}  // namespace fovea::bench
