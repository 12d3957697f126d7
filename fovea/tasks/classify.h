#pragma once
// Text classification: one label for each text. Any text encoder, any pooling, a linear layer.
//
//   rows = encoder(tokens)      v = pooling(rows)      p = softmax(v Wᵀ + b)
//
// Thread-safety: a loaded classifier does not change; any number of threads may use it.
#include <memory>
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
    Pooling pooling;
    Linear head;
};

struct ClassifyModel {
    ModelFolder folder;  // config, tokenizer, labels
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const TextClassifier> network;
    Precision precision = Precision::f32;  // of its matrix products

    // A new model. `folder` has a text encoder's config, the labels and the tokenizer.
    static ClassifyModel create(ModelFolder folder, const PoolingOptions& pooling,
                                std::uint64_t seed);
    static ClassifyModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;

    // Ids with the end token; texts longer than the model takes are cut.
    Ids encode(const std::string& text, bool* cut = nullptr) const;
};

struct TextLabel {
    std::string label;                 // the most probable
    std::vector<float> probabilities;  // in the order of the model's labels
    bool cut = false;                  // the text was longer than the model takes
};

// A text's answer does not depend on its neighbours.
std::vector<TextLabel> classify(const ClassifyModel& model, std::span<const std::string> texts,
                                std::int64_t batch_tokens = 4096,
                                const PredictControl& control = {});

// A checkpoint's parameters, written like `model` (TaskEntry::save).
void save_classifier(const ModelFolder& model, const ParameterStore& trained,
                     const std::string& out, bool overwrite);

std::unique_ptr<Trainer> make_classify_trainer();
std::unique_ptr<Predictor> make_classify_predictor();

}  // namespace fovea
