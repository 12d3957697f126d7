#pragma once
// The flags of `fovea train`, and the training they describe.
#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "fovea/cli/search_flags.h"
#include "fovea/tasks/seq2seq_settings.h"

namespace fovea {

struct TrainingFlags {
    std::string task = "translate", train, dev = "auto", preset = "small", precision = "f32";
    std::string config, dump, schedule = "linear", vocab = "bpe", metric = "auto";
    std::string positions = "sinusoidal", activation = "relu";
    Seq2SeqTraining t;  // flags with a default of their own are written straight into it
    SearchFlags search;
    // Those whose default follows from others.
    std::optional<std::int64_t> steps, epochs, warmup, planned_updates, planned_warmup;
    std::optional<double> minutes, lr;
    std::optional<float> dropout;
    std::optional<int> max_source, max_target;
    std::optional<int> encoder_layers, decoder_layers, d_model, ffn, heads;
    bool separate = false, dry_run = false;
    std::set<std::string> search_flags;  // names of those that `search` added
};

void add_training_flags(CLI::App& verb, TrainingFlags& flags);

// Recipes (--config, and the run's own when it is resumed), then everything that the flags leave
// open; wrong values and flags without effect are usage errors.
void settle(CLI::App& verb, TrainingFlags& flags);

// All settings as they were resolved, for RUN/config.toml: paths absolute, defaults written out.
std::string run_recipe(const CLI::App& verb, const TrainingFlags& flags, const TrainOptions& run);

// What differs from the run's recipe of before, as "lr 0.001 → 0.002, …"; empty: nothing.
std::string changed_settings(const std::string& old_recipe, const std::string& new_recipe_text);

}  // namespace fovea
