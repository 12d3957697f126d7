#pragma once
// The settings that every training run has, whatever its task: data, budget, rates, batches,
// checkpoints. A C++ program and `fovea train` get the same defaults from here.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/settings.h"
#include "fovea/data/batch_plan.h"
#include "fovea/train/loop.h"

namespace fovea {

// What a task does where nobody says otherwise.
struct RunDefaults {
    double rate = 1e-3;          // highest learning rate
    std::int64_t warmup = 1000;  // updates where there is time: at most a tenth of the run
    std::int64_t epochs = 10;    // where no budget is given
    int d_model = 512;           // for the schedule `noam`
};

// The highest rate by the columns of a network's rows, small ones bear more: of a new one, and of
// one that has learned before (Devlin et al. 2018, §A.3: 2e-5 to 5e-5 for 768 columns).
double new_rate(int width);
double tuning_rate(int width);

struct TrainedEncoder;

struct RunSettings {
    // data
    std::vector<std::string> train;
    std::string dev = "auto";  // a file; auto: a part of the training data is held out; none
    std::int64_t limit = 0;    // so many training records, drawn by the seed; 0: all
    std::int64_t skip_bad = 0;
    std::int64_t dev_limit = 500;  // records looked at in an evaluation; 0: all
    std::string metric = "auto";   // which chooses the model that is kept
    std::string from;              // a model folder to go on from
    // Instead of a folder: the encoder that several tasks train together (multi.h).
    std::shared_ptr<const TrainedEncoder> body;
    std::string vectors;            // word vectors that the embedding starts from
    std::string precision = "f32";  // of matrix products
    BatchOptions batches;

    // Those whose default follows from others.
    std::optional<std::int64_t> steps, epochs, warmup;
    std::optional<double> minutes, rate;
    std::string schedule = "linear";
    // What minutes were found to mean: written to config.toml, so that they mean the same again.
    std::optional<std::int64_t> planned_updates, planned_warmup;
    TrainOptions options;  // where the run goes, its seed, optimizer, checkpoints

    // `metrics`: what --metric may be, besides auto and loss.
    void describe(Settings& settings, const std::vector<std::string>& metrics);
    // Combinations that cannot be, or flags without effect, are usage errors.
    void check() const;
    // Everything that was left open: `options` is then what train() takes. The seed is that of
    // `options`.
    void settle(const RunDefaults& defaults);
    // After the run was planned: what it found, for config.toml.
    void take_plan(const TrainOptions& planned);

    bool measures() const { return dev != "none"; }
    bool has_dev_file() const { return dev != "none" && dev != "auto"; }
};

// An error for a flag that would be ignored.
[[noreturn]] void refuse_without_effect(const std::string& name, const std::string& why,
                                        const std::string& hint);

// The same for each of these settings that was given; the others are not written down.
void leave_out(Settings& settings, std::span<const char* const> names, const std::string& why);

}  // namespace fovea
