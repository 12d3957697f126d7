#pragma once
// `fovea bench rnn`: GRU and LSTM stacks over packed sequences of 5 to 50 rows, trained (forward
// and all gradients) and stepped as a decoder does, beside PyTorch in turns on the same work.
#include <vector>

#include "fovea/bench/model_bench.h"

namespace fovea::bench {

using RnnBenchOptions = ModelBenchOptions;

// "gru 2x512 train", "gru 2x512 step 64": rows per second.
std::vector<Row> bench_rnn(const RnnBenchOptions& options);

}  // namespace fovea::bench
