#pragma once
// Us against one peer on the same pieces of work, as a row.
#include <functional>
#include <optional>

#include "fovea/bench/model_bench.h"
#include "fovea/bench/text_peer.h"

namespace fovea::bench {

struct Duel {
    Row row;  // bench, name, precision and unit; the rest is filled in
    std::function<std::optional<double>(std::int64_t first, int count)> ours;
    std::function<Json(std::int64_t first, int count)> asks;  // of the peer
    std::function<double(std::int64_t first, int count)> work;
    double seconds = 30, sample_seconds = 0.5;              // where --seconds does not say
    double quick_seconds = 10, quick_sample_seconds = 0.2;  // with --quick
};

// Tells options.on_row of it, too. A peer that is null or dead is left out, with a note why.
// Nothing where options.stop() came first.
std::optional<Row> run_duel(const ModelBenchOptions& options, const Duel& duel, TextPeer* peer);

}  // namespace fovea::bench
