#pragma once
// A text encoder with the heads of its pretraining: words, and whether a text follows. Masked
// models (BERT, RoBERTa) fill gaps, causal ones (GPT-2) write on.
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <string>

#include "fovea/models/text_encoder.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/pretrain_batch.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

struct PretrainedModel {
    ModelFolder folder;
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const TextEncoder> encoder;
    Precision precision = Precision::f32;  // of its matrix products
    bool has_types = false;                // its tokenizer gives tokens types (BERT's two texts)
    // Where it has learnt from translations: types are languages.
    std::shared_ptr<const LanguageFrame> languages{};

    // A new model. `folder` has a text encoder's config and the tokenizer.
    static PretrainedModel create(ModelFolder folder, Head head, std::uint64_t seed);
    static PretrainedModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;

    // The mean loss of a batch: words, and the next text where the batch has such labels.
    Tensor loss(const PretrainBatch& batch) const;
};

// A checkpoint's parameters, written like `model` (TaskEntry::save).
void save_pretrained(const ModelFolder& model, const ParameterStore& trained,
                     const std::string& out, bool overwrite);

// How well a model tells: over all sequences, or `limit` of them spread over all.
struct PretrainFigures {
    double loss = 0;      // nats a told token
    double accuracy = 0;  // percent of the told tokens that were the most probable
    double next_accuracy = 0, next_loss = 0;
    std::int64_t told = 0, sequences = 0;
    bool has_next = false;

    double perplexity() const;
    Json json() const;
};
struct MeasureOptions {
    std::int64_t limit = 0, batch_tokens = 4096;
    std::function<bool(std::int64_t done, std::int64_t total)> goes_on{};  // false: stop
};
PretrainFigures measure(const PretrainedModel& model, const PretrainSequences& sequences,
                        const MeasureOptions& options);

}  // namespace fovea
