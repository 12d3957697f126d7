#pragma once
// `fovea bench attention`: what looking at a whole text costs by its length, for each mechanism:
// attention to everything, in windows, with means and with global rows, a recurrent layer and a
// bag of words; time and memory, forward alone and with the gradients.
#include <functional>
#include <string>
#include <vector>

#include "fovea/bench/rows.h"

namespace fovea::bench {

struct AttentionLengthOptions {
    std::vector<std::int64_t> lengths{1024, 2048, 4096, 8192, 16384};
    int window = 128, heads = 8, head_columns = 64;
    bool quick = false;  // up to 4,096 rows
    std::string only;    // rows whose case holds this text; empty: all
    std::function<void(const Row&)> on_row;
    std::function<void(const std::string&)> on_case;
    std::function<bool()> stop = [] { return false; };
};

// "window:128 fwd 16384", in milliseconds, beside the time of global attention; the note has the
// memory of tensors at the peak.
std::vector<Row> bench_attention_length(const AttentionLengthOptions& options);

// Time against length on logarithmic scales, one line a mechanism: a picture of its own.
std::string attention_length_svg(const std::vector<Row>& rows, const std::string& work);

}  // namespace fovea::bench
