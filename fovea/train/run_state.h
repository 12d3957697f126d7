#pragma once
// Everything a run must remember besides weights and moments. Saved with every checkpoint, restored
// exactly; numbers survive JSON because shortest round-trip digits are written.
#include <cstdint>
#include <string>

#include "fovea/base/json.h"

namespace fovea {

struct RunState {
    std::int64_t step = 0;               // updates made, skipped ones included
    std::int64_t epoch = 0;              // from 0
    std::int64_t next_batch = 0;         // of the current epoch; always at an accumulation border
    std::int64_t tokens = 0;             // that counted in the loss so far
    std::uint64_t dropout_position = 0;  // of the dropout stream
    double smooth_loss = 0;              // of the live line
    double epoch_loss = 0;               // Σ loss · tokens in this epoch
    std::int64_t epoch_tokens = 0;
    bool has_best = false;
    double best_metric = 0;
    std::int64_t best_step = 0;
    std::int64_t evaluations_since_best = 0;
    std::int64_t skipped = 0;  // updates with a non-finite loss or gradient
    std::int64_t skipped_in_a_row = 0;
    double seconds = 0;  // of training, over all sittings
    bool finished = false;

    Json to_json() const;
    static RunState from_json(const Json& json, const std::string& where);
};

}  // namespace fovea
