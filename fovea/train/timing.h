#pragma once
// How long an update will take, before the first one.
// Not thread-safe: it belongs to the training loop's thread.
#include "fovea/train/loop.h"

namespace fovea {

// Seconds of one update, from a few real batches of the first epoch run forward and back. Changes
// no parameter, no moment and no random stream.
double seconds_per_update(const TrainTask& task, const TrainOptions& options);

}  // namespace fovea
