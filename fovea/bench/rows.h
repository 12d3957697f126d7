#pragma once
// One measured figure of `fovea bench`, and how rows are shown: a table for people, the array that
// scripts rely on (reference: docs/benchmarks.md).
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/json.h"

namespace fovea::bench {

struct Row {
    std::string bench;      // "gemm"
    std::string name;       // "fwd 4096x512x2048"
    std::string precision;  // "f32"
    int threads = 1;
    double value = 0;    // best sample
    double median = 0;   // and the middle one
    std::string unit{};  // "GFLOP/s"
    bool higher_is_better = true;
    std::optional<double> share{};  // of the hardware limit sampled in the same run, 0-1
    std::string peer{};             // "oneDNN 2.6.3 (AVX2)"; empty: none
    std::optional<double> peer_value{}, peer_median{};
    std::string note{};  // what the reader must know of this figure (a peer that died)

    // > 1 where Fovea is ahead.
    std::optional<double> ratio() const;
};

// {"bench", "case", "precision", "threads", "value", "unit", "better", "share", "peer",
// "peer_value", "ratio", "note"}; what does not apply is left out. With `medians`, two fields more.
Json to_json(const Row& row, bool medians = false);
Json to_json(const std::vector<Row>& rows, bool medians = false);

std::string table_header();
std::string table_line(const Row& row);

}  // namespace fovea::bench
