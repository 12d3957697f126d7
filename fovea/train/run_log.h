#pragma once
// What a run writes while it goes: RUN/metrics.jsonl, and the same for TensorBoard with what
// depends on the clock.
// Not thread-safe: it belongs to the training loop.
#include <string>

#include "fovea/train/loop.h"
#include "fovea/train/metrics_log.h"
#include "fovea/train/tensorboard.h"

namespace fovea {

class RunLog {
public:
    // Goes on where the state was saved.
    RunLog(const std::string& run, const TrainState& state);
    void add(const StepReport& r);
    void add(const EvaluationReport& r);
    void sync() { metrics_.sync(); }  // before a checkpoint: what it stands for is on disk

private:
    MetricsLog metrics_;
    TensorBoard board_;
};

}  // namespace fovea
