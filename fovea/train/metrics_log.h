#pragma once
// RUN/metrics.jsonl: one JSON object per line, for each update and each evaluation; epochs count
// from
// 1. It holds nothing that depends on the clock, so that a resumed run's file equals an
// uninterrupted one's. Clock-bound figures (tokens per second) go to TensorBoard alone. Not
// thread-safe: it belongs to the training loop.
#include <cstdint>
#include <string>

#include "fovea/base/json.h"

namespace fovea {

class MetricsLog {
public:
    // Lines of updates beyond `last_step` and of evaluations beyond `last_evaluated` (written after
    // the checkpoint that is resumed) are removed.
    MetricsLog(const std::string& path, std::int64_t last_step, std::int64_t last_evaluated);
    ~MetricsLog();
    MetricsLog(const MetricsLog&) = delete;
    MetricsLog& operator=(const MetricsLog&) = delete;

    void add(const Json& line);
    void sync();  // before a checkpoint: what it stands for is on disk

private:
    std::string path_;
    int fd_ = -1;
};

}  // namespace fovea
