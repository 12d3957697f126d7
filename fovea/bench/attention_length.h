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

// One measurement: a mechanism, "fwd" or "fwd+bwd", rows of the text, and what they took.
struct LengthPoint {
    std::string mechanism, work;
    double length = 0, milliseconds = 0;
    double megabytes = 0;  // of tensors at the peak, beyond the input
};

struct AttentionLengths {
    // "window:128 fwd 16384", in milliseconds, beside the time of global attention; the note has
    // the memory.
    std::vector<Row> rows;
    std::vector<LengthPoint> points;
};
AttentionLengths bench_attention_length(const AttentionLengthOptions& options);

// How a cost grows with the length n, over one mechanism's points: the line y = a + b n by least
// squares with its R² = 1 − Σ (y − a − b n)² / Σ (y − ȳ)², and the exponent p of y ~ nᵖ (the line
// of log y over log n). At least three lengths, all costs above zero.
struct LengthFit {
    double slope = 0;      // b
    double r_squared = 0;  // 1 where all costs are alike
    double exponent = 0;
};
LengthFit fit_of(const std::vector<double>& lengths, const std::vector<double>& costs);

// For people, a line a mechanism: "window:128 fwd+bwd: 0.021 ms a row, R² 0.999, n^1.01; …".
std::vector<std::string> fit_lines(const std::vector<LengthPoint>& points);

// Time and memory against length on logarithmic scales, one line a mechanism: a picture of its own.
// "" where there are not two lengths.
std::string attention_length_svg(const std::vector<LengthPoint>& points, const std::string& work);

}  // namespace fovea::bench
