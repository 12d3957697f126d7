#pragma once
// What a sequence-to-sequence training is told, and what it does where it is told nothing.
// Thread-safety: plain values and pure functions.
#include <string>

#include "fovea/data/pairs.h"
#include "fovea/infer/search_options.h"
#include "fovea/models/transformer_config.h"
#include "fovea/tasks/run_settings.h"
#include "fovea/tasks/seq2seq_batch.h"
#include "fovea/tasks/seq2seq_score.h"
#include "fovea/text/train/vocabulary_recipe.h"
#include "fovea/train/loop.h"

namespace fovea {

struct Seq2SeqTraining {
    std::string task = "translate";  // or summarise
    PairFiles train, dev;            // dev.path may be empty:
    bool split_dev = true;           // then some training pairs are kept back (data/split.h)
    std::int64_t draw = 0;           // so many training pairs, drawn by the seed; 0: all
    std::string vectors;             // word vectors that the embedding starts from
    std::string from;                // a model folder to go on from; empty: from scratch
    std::string tokenizer, target_tokenizer;  // files to use instead of training a vocabulary
    VocabularyOptions vocabulary;
    bool joint_vocabulary = true;
    TransformerConfig config;  // sizes; vocabulary and special ids are filled in
    Json another;              // config.json of another network, instead (seq2seq_network.h)
    Precision precision = Precision::f32;
    float smoothing = 0.1f;
    std::int64_t fixed_lag = 0;  // tokens of its own that the model reads (seq2seq_own_tokens.h)
    double lag_share = 0.25;     // of targets that are learned so
    double reverse_share = 0;    // of targets read from their end
    float language_loss = 0;     // weight of the loss of the targets without their sources
    BatchOptions batches;        // max_tokens 4096
    LengthLimits limits;
    SearchOptions search;                       // for evaluation, and saved as the model's defaults
    TextMetric metric = TextMetric::automatic;  // which chooses the model that is kept
    int dev_limit = 500;                        // dev pairs translated at each evaluation; 0: all
    TrainOptions run;

    Json new_config() const { return another.is_null() ? config.to_json() : another; }
    bool measures() const { return !dev.path.empty() || split_dev; }
    // Wrong values are usage errors that name the flag.
    void check() const;
};

// Sizes of the preset, and the task's own limits and search.
Seq2SeqTraining seq2seq_defaults(const std::string& task, const std::string& preset);

// Rates that hold for the presets: smaller models take larger steps.
RunDefaults seq2seq_run_defaults(int d_model);
// Fills in what `run` leaves open and the width of the model decides.
void fit_rates(TrainOptions& run, int d_model);

}  // namespace fovea
