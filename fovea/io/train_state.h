#pragma once
// Everything a training run is besides its weights and the optimizer's moments: saved as
// state.json, restored exactly (64-bit integers stay integers, doubles round-trip).
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <map>
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
    std::int64_t step = 0;  // optimizer steps done
    std::int64_t epoch = 0;
    std::int64_t micro_step = 0;  // within an accumulation; checkpoints are made at 0
    std::int64_t examples_seen = 0;
    std::int64_t tokens_seen = 0;

    RngState init_rng, shuffle_rng, dropout_rng, masking_rng, augmentation_rng;

    std::string data_fingerprint;
    std::uint64_t permutation_key = 0;
    std::int64_t next_index = 0;  // the next batch to consume (not to prefetch) in this epoch

    std::string schedule;  // its settings, as text to be compared
    double learning_rate = 0;
    double loss_scale = 1;
    std::int64_t loss_scale_good_steps = 0;
    std::int64_t clipped_steps = 0;
    double gradient_norm_sum = 0;
    std::int64_t ema_updates = 0;  // 0: no moving average is kept

    std::int64_t skipped_steps = 0;  // non-finite loss or gradient
    std::int64_t skipped_in_a_row = 0;

    std::string best_metric;  // "" : none yet
    double best_value = 0;
    std::int64_t best_step = -1;
    std::int64_t evaluations_without_gain = 0;

    double loss_sum = 0;  // of the epoch so far
    std::int64_t loss_tokens = 0;
    std::map<std::string, double> metric_sums;

    double wall_seconds = 0;
    std::string config_hash;

    bool operator==(const TrainState&) const = default;
};

std::string state_text(const TrainState& state);  // JSON; refuses values that are not finite
// Strict: every field must be there, of its type, and nothing else.
TrainState parse_state(const std::string& json, const std::string& where);

}  // namespace fovea
