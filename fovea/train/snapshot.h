#pragma once
// Between the loop and the checkpoint files: which tensors and which state make up a run.
// Not thread-safe: it belongs to the training loop.
#include <functional>
#include <string>

#include "fovea/io/checkpoint_folder.h"
#include "fovea/tensor/parameter_store.h"
#include "fovea/train/adamw.h"
#include "fovea/train/averaging.h"
#include "fovea/train/train_state.h"

namespace fovea {

// Parameters, Adam's moments and, where one is kept, the moving average. Handles: saving copies
// nothing, restoring writes through them.
struct Snapshot {
    ParameterStore& store;
    AdamW& adam;
    MovingAverage* average;

    Checkpoint of_state(const TrainState& state) const;
    // Writes everything back and gives the state. Names or shapes that differ are one error.
    TrainState restore(const OpenCheckpoint& from) const;
    std::int64_t bytes() const;
};

}  // namespace fovea
