#pragma once
// `fovea bench translate`: target tokens per second of beam search with random weights, every
// sentence forced to the same length, beside CTranslate2 with the same weights and sources, in
// turns in one run; and the time `fovea translate` takes to start.
#include <string>
#include <vector>

#include "fovea/bench/model_bench.h"

namespace fovea::bench {

struct TranslateBenchOptions : ModelBenchOptions {
    std::string preset = "base";
    int vocabulary = 32000;
    std::vector<int> beams = {1, 4};
    std::vector<std::string> precisions = {"f32", "bf16", "int8"};
    int batch = 32;   // sentences decoded together
    int length = 0;   // tokens of every translation; 0: 32, quick 16
    int starts = 10;  // of `fovea translate`, to find its best start-up time; 0: none
};

std::vector<Row> bench_translate(const TranslateBenchOptions& options);

}  // namespace fovea::bench
