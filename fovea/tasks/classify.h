#pragma once
// Text classification: one label for each text, or for two that are judged together. Any text
// encoder, under the head that its published checkpoints have, or under any pooling and a linear
// layer:
//
//   rows = encoder(tokens)      v = pooling(rows)      p = softmax(v Wᵀ + b)
//
// Thread-safety: a loaded classifier does not change; any number of threads may use it.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/models/text_encoder.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/pooling.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

struct TextClassifier {
    TextClassifier(const Json& config, const std::string& where, int classes, const Params& p);
    Tensor logits(const TokenBatch& batch) const;  // [sequences, classes]

    TextEncoder encoder;
    // Where config.json names a pooling; else the encoder's own head is asked.
    std::optional<Pooling> pooling;
    std::optional<Linear> head;
};

// One text, or two that are judged together (premise and hypothesis).
struct TextInput {
    std::string text;
    std::optional<std::string> pair{};
};

struct EncodedText {
    Ids ids, types;  // types: empty for one text
    bool cut = false;
};
TokenBatch pack_texts(std::span<const EncodedText> texts, std::span<const std::int64_t> indices,
                      std::span<const std::uint64_t> samples = {});

struct ClassifyModel {
    ModelFolder folder;  // config, tokenizer, labels
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const TextClassifier> network;
    Precision precision = Precision::f32;  // of its matrix products

    // A new model. `folder` has a text encoder's config, the labels and the tokenizer. Without a
    // pooling the encoder's own head is taken; where it has none, the mean.
    static ClassifyModel create(ModelFolder folder, std::optional<Pool> pooling,
                                std::uint64_t seed);
    // A new head for the encoder of a model of any task, whose folder now has the labels. `report`
    // says which parameters were made and which were left.
    static ClassifyModel create_from(ModelFolder pretrained, std::optional<Pool> pooling,
                                     std::uint64_t seed, ModelFolder::NewHead& report);
    static ClassifyModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;

    // Ids with the tokens of the template; texts longer than the model takes are cut. A pair where
    // the template has no separator for it is an error.
    EncodedText encode(const TextInput& input) const;
    const char* pooling_name() const;  // "model" for the encoder's own head
};

struct TextLabel {
    std::string label;                 // the most probable
    std::vector<float> probabilities;  // in the order of the model's labels
    bool cut = false;                  // the text was longer than the model takes
};

// A text's answer does not depend on its neighbours.
std::vector<TextLabel> classify(const ClassifyModel& model, std::span<const TextInput> texts,
                                std::int64_t batch_tokens = 4096,
                                const PredictControl& control = {});
std::vector<TextLabel> classify(const ClassifyModel& model, std::span<const std::string> texts,
                                std::int64_t batch_tokens = 4096,
                                const PredictControl& control = {});

// A checkpoint's parameters, written like `model` (TaskEntry::save).
void save_classifier(const ModelFolder& model, const ParameterStore& trained,
                     const std::string& out, bool overwrite);

std::unique_ptr<Trainer> make_classify_trainer();
std::unique_ptr<Predictor> make_classify_predictor();

}  // namespace fovea
