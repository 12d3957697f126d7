#pragma once
// `fovea bench pretrain`: updates of BERT-base (classification, 16 x 128 tokens) and GPT-2 124M
// (language model, 4 x 256) with random weights, beside PyTorch's f32 in turns; and the memory they
// take. (PyTorch's own bf16 dies on virtual machines that hide AMX's palettes; f32 is what it has
// everywhere.)
#include <string>
#include <vector>

#include "fovea/bench/model_bench.h"

namespace fovea::bench {

struct PretrainBenchOptions : ModelBenchOptions {
    std::vector<std::string> precisions = {"f32", "bf16"};  // of ours
    float dropout = 0.1f;                                   // on both sides
    bool memory = true;  // the rows of peak memory (not in quick runs)
};

std::vector<Row> bench_pretrain(const PretrainBenchOptions& options);

// Trains for a few updates in this process and gives its largest resident size (`fovea bench
// pretrain-memory`, which is not for people).
double pretrain_memory(const std::string& model, float dropout, int updates);

}  // namespace fovea::bench
