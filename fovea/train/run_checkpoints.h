#pragma once
// A run's checkpoints as the loop uses them: taken up again, saved, and marked as the best; what a
// failed save means.
// Not thread-safe: it belongs to the training loop.
#include <functional>
#include <optional>
#include <string>

#include "fovea/train/loop.h"
#include "fovea/train/snapshot.h"

namespace fovea {

class RunCheckpoints {
public:
    using Say = std::function<void(const std::string&)>;

    // Locks the run's folder; an old run is removed where the options say so. Is there room?
    RunCheckpoints(const TrainOptions& options, std::int64_t bytes, Say say);

    // Writes the newest whole checkpoint into the snapshot's tensors. Nothing where there is none.
    std::optional<TrainState> resume(const Snapshot& snapshot, const std::string& fingerprint);

    enum class Moment {
        regular,
        new_best,       // between two regular ones
        end_of_the_run  // whose failure is the run's
    };
    // A failed save is told and survived twice: the old checkpoints are there. The third ends the
    // run before more work is lost, and so does the failure of the last save of a run.
    void save(const Snapshot& snapshot, const TrainState& state, Moment moment);

private:
    void write(const Snapshot& snapshot, const TrainState& state, Moment moment);
    void mark_best(const TrainState& state, bool out_of_turn);

    const TrainOptions& options_;
    Say say_;
    CheckpointFolder folder_;
    std::int64_t saved_step_ = -1;
};

}  // namespace fovea
