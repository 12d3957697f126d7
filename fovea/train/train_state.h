#pragma once
// Everything a training run is besides its weights and the optimizer's moments: saved as a
// checkpoint's state.json, restored exactly (64-bit integers stay integers, doubles round-trip).
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <string>

#include "fovea/base/rng.h"

namespace fovea {

struct RngState {  // a stream of base/rng.h
    std::uint64_t seed = 0;
    std::uint32_t purpose = 0;
    std::uint64_t position = 0;

    static RngState of(const Rng& rng) { return {rng.seed(), rng.purpose(), rng.position()}; }
    Rng make() const {
        Rng rng(seed, purpose);
        rng.seek(position);
        return rng;
    }
    bool operator==(const RngState&) const = default;
};

// A new field must also be added to for_each_field() in train_state.cpp: the structured binding
// there does not compile without it, and train_state_test counts.
struct TrainState {
    std::int64_t step = 0;        // updates done
    std::int64_t epoch = 0;       // whole epochs done
    std::int64_t next_index = 0;  // the next batch of this epoch
    std::int64_t tokens_seen = 0;
    RngState dropout_rng;

    std::string run;  // an id drawn at the run's start: checkpoints of two runs are never mixed
    std::string data_fingerprint;
    std::string budget;                // as given; see budget_text()
    std::int64_t planned_updates = 0;  // what the budget was found to mean before the first update
    std::int64_t planned_warmup = 0;

    std::int64_t skipped_steps = 0;  // non-finite loss or gradient
    std::int64_t skipped_in_a_row = 0;
    double first_loss = 0;  // of the first update that counted
    double smooth_loss = 0;
    std::int64_t exploded_in_a_row = 0;  // updates with a smoothed loss far above the first

    std::string best_metric;  // "" : none yet
    double best_value = 0;
    double best_loss = 0;  // on the dev set
    std::int64_t best_step = -1;
    std::int64_t evaluated_step = 0;  // the last one
    std::int64_t evaluations = 0;
    std::int64_t evaluations_at_zero = 0;
    std::int64_t evaluations_without_gain = 0;

    double loss_sum = 0;  // of the epoch so far
    std::int64_t loss_weight = 0;
    double wall_seconds = 0;

    bool operator==(const TrainState&) const = default;
};

inline constexpr std::int64_t train_state_format = 2;

std::string state_text(const TrainState& state);  // JSON; refuses values that are not finite
// Strict: the format must be ours, every field must be there, of its type, and nothing else.
TrainState parse_state(const std::string& json, const std::string& where);

}  // namespace fovea
