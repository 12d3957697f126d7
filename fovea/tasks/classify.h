#pragma once
// Text classification: one label for each text, or for two that are judged together; or any number
// of labels. Any text encoder, under the head that its published checkpoints have, or under any
// pooling and a linear layer:
//
//   rows = encoder(tokens)      v = pooling(rows)      p = softmax(v Wᵀ + b)
//                                  any number of labels: p = σ(v Wᵀ + b), each by itself
//
// A text longer than the model takes is read in windows that overlap by half, and its probabilities
// are the mean of theirs.
// Thread-safety: a loaded classifier does not change; any number of threads may use it.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/labelled_texts.h"
#include "fovea/metrics/score.h"
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
    Ids ids, types;    // types: empty for one text
    bool cut = false;  // something is left out
};
TokenBatch pack_texts(std::span<const EncodedText> texts, std::span<const std::int64_t> indices,
                      std::span<const std::uint64_t> samples = {});

struct ClassifyModel {
    ModelFolder folder;  // config, tokenizer, labels
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const TextClassifier> network;
    Precision precision = Precision::f32;  // of its matrix products
    bool several = false;                  // any number of labels for each text
    std::vector<float> thresholds;         // `several`: one for each label

    // A new model. `folder` has a text encoder's config, the labels and the tokenizer. Without a
    // pooling the encoder's own head is taken; where it has none, that of text_encoders().
    // `several` is kept as config.json's "problem_type", where it may be set before.
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
    // The same without a cut where it is one text: several windows, each with the template's
    // tokens.
    std::vector<EncodedText> encode_windows(const TextInput& input) const;
    const char* pooling_name() const;                   // "model" for the encoder's own head
    void set_thresholds(std::vector<float> of_labels);  // also those that save() writes
    // The labels that probabilities stand for: the most probable, or all at their thresholds.
    std::vector<std::string> labels_of(std::span<const float> probabilities) const;
};

struct TextLabel {
    std::string label;                 // the most probable
    std::vector<std::string> labels;   // it alone; of a model of any number: those that hold
    std::vector<float> probabilities;  // in the order of the model's labels
    bool cut = false;                  // a pair that was longer than the model takes
    int windows = 1;                   // that the text was read in
};

// A text's answer does not depend on its neighbours.
std::vector<TextLabel> classify(const ClassifyModel& model, std::span<const TextInput> texts,
                                std::int64_t batch_tokens = 4096,
                                const PredictControl& control = {});
std::vector<TextLabel> classify(const ClassifyModel& model, std::span<const std::string> texts,
                                std::int64_t batch_tokens = 4096,
                                const PredictControl& control = {});

// Records of files: one or two texts and one label, or an error that names the line.
const std::string& label_of(const LabelledText& record);
TextInput input_of(const LabelledText& record);
// Takes out the records with a label that is none of these, and says how many; or, without `skip`,
// an error that names the first.
std::vector<LabelledText> with_known_labels(std::vector<LabelledText> records,
                                            std::span<const std::string> labels, bool skip,
                                            const Say& say);
// Accuracy, F1, calibration and mean loss over them; `answers` gets what was found.
MetricScore score_labelled(const ClassifyModel& model, std::span<const LabelledText> records,
                           std::vector<TextLabel>* answers = nullptr,
                           const PredictControl& control = {});

// A model of any number of labels: the thresholds at which each label's F1 over the records is
// best.
void tune_thresholds(ClassifyModel& model, std::span<const LabelledText> records);

// A model with a query for each class: the query begins as the mean row of the label's own words
// ("credit_limit": "credit limit").
void start_with_label_words(ClassifyModel& model);

// A checkpoint's parameters, written like `model` (TaskEntry::save).
void save_classifier(const ModelFolder& model, const ParameterStore& trained,
                     const std::string& out, bool overwrite);

std::unique_ptr<Trainer> make_classify_trainer();
std::unique_ptr<Predictor> make_classify_predictor();

}  // namespace fovea
