#pragma once
// Training a sequence-to-sequence model (translate, summarise) from text files to a model folder.
// Not thread-safe: a trainer belongs to one thread (its kernels use the pool of all).
#include <functional>
#include <optional>
#include <string>

#include "fovea/tasks/seq2seq_batch.h"
#include "fovea/tasks/seq2seq_model.h"
#include "fovea/tasks/seq2seq_own_tokens.h"
#include "fovea/tasks/seq2seq_settings.h"

namespace fovea {

// What is known before the first update: for --dry-run and for the opening lines of a run.
struct Seq2SeqPlan {
    std::int64_t parameters = 0, pairs = 0, dropped = 0, batches_per_epoch = 0;
    std::int64_t source_tokens = 0, target_tokens = 0;
    double memory_bytes = 0;  // estimate at the peak
};

class Seq2SeqTrainer {
public:
    using Say = std::function<void(const std::string&)>;  // progress for people

    // Reads the data, trains or loads the vocabularies, makes the model.
    Seq2SeqTrainer(const Seq2SeqTraining& options, const Say& say);
    Seq2SeqPlan plan() const;
    // For peers and debugging: initial weights, examples and batch order of so many epochs.
    void dump(const std::string& folder, std::int64_t epochs) const;
    TrainTask task();
    TrainResult run(const TrainEvents& events);  // ends with RUN/model
    const Seq2SeqModel& model() const { return model_; }
    // Its encoder for tasks beside it (multi.h). The trainer must outlive what is returned.
    TrainedEncoder trained_encoder() const;

private:
    void read_data(const Say& say);
    void make_model(const Say& say);
    void choose_metric(const Say& say);
    Evaluation evaluate();
    double dev_loss() const;
    double evaluation_seconds() const;

    Seq2SeqTraining options_;
    Seq2SeqModel model_;
    TextEncoder source_encoder_;         // a view of the model's encoder
    std::vector<TextPair> pairs_, dev_;  // the training pairs only until they are encoded
    Seq2SeqExamples examples_, dev_examples_;
    std::optional<BatchPlan> plan_;
    EpochDraws draws_;
    Json fingerprint_;
};

}  // namespace fovea
