#pragma once
// `fovea bench tokenizers`: encoding, training and loading beside Hugging Face's `tokenizers` and
// SentencePiece, on the same text, in turns in one run. The peers run on one thread
// (RAYON_NUM_THREADS=1, TOKENIZERS_PARALLELISM=false) where a row says one thread.
#include <functional>
#include <string>
#include <vector>

#include "fovea/bench/rows.h"

namespace fovea::bench {

struct TokenizerBenchOptions {
    std::string text;    // a text file; empty: the data sets at hand, or lines made from a seed
    bool quick = false;  // less text, fewer rounds: under a minute
    bool peers = true;   // beside the peers where they are installed
    std::string only;    // rows whose case holds this text; empty: all
    std::function<void(const Row&)> on_row;             // as soon as it is measured
    std::function<void(const std::string&)> on_case;    // before it is measured
    std::function<void(const std::string&)> on_note;    // what the reader should know
    std::function<bool()> stop = [] { return false; };  // asked between samples
};

std::vector<Row> bench_tokenizers(const TokenizerBenchOptions& options);

}  // namespace fovea::bench
