#pragma once
// Tagging: a label for each word, and the entities that B- and I- labels mark, by a TagNetwork
// (tag_network.h).
//
//   const TagModel model = TagModel::open(ModelFolder::open("run/model"));
//   const std::string texts[] = {"Anna Kova lives in Oslo."};
//   const std::vector<TaggedText> found = tag(model, texts);
//   for (const TextEntity& e : found[0].entities) std::cout << e.label << e.text;
//
// A sentence longer than the encoder takes is read in windows that overlap; a word's row comes from
// the window in which it stands furthest from an edge.
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/conll.h"
#include "fovea/metrics/entities.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/tag_network.h"
#include "fovea/tasks/tag_text.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

struct TagModel {
    ModelFolder folder;  // config, tokenizer, labels
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const TagNetwork> network;
    Precision precision = Precision::f32;  // of its matrix products

    // A new model. `folder` has the config of a text encoder (or FeatureEmbedding), the labels and
    // the tokenizer.
    static TagModel create(ModelFolder folder, const TagChoice& choice, std::uint64_t seed);
    // New labels on the encoder of a model of any task, whose folder now has them. `report` says
    // which parameters were made and which were left.
    static TagModel create_from(ModelFolder pretrained, const TagChoice& choice, std::uint64_t seed,
                                ModelFolder::NewHead& report);
    static TagModel open(ModelFolder folder, const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;

    // `words` are bytes of the text, in order.
    EncodedWords encode(const std::string& text, std::span<const TextSpan> words) const;
    EncodedWords encode(std::span<const std::string> words) const;  // with a space between
    bool has_entities() const;                              // its labels are B-X, I-X, … and O
    std::int32_t label_id(const std::string& label) const;  // -1: it has no such label
};

// A text's answer does not depend on its neighbours. Bytes that are not UTF-8 are read as U+FFFD.
std::vector<TaggedText> tag(const TagModel& model, std::span<const std::string> texts,
                            std::int64_t batch_tokens = 4096, const PredictControl& control = {});

// The tags of words that are given as such, and the mean loss of wanted ones (label ids; empty: not
// asked for; -1: not counted).
struct TaggedSentences {
    std::vector<std::vector<std::string>> tags;
    double loss = 0;
};
TaggedSentences tag_sentences(const TagModel& model,
                              std::span<const std::vector<std::string>> sentences,
                              std::span<const Ids> wanted = {}, const PredictControl& control = {});

// F1 of entities, or accuracy of plain tags; beside it the mean loss over words. `outputs`: the
// tags of each sentence, a space between.
MetricScore tag_score(const TagModel& model, std::span<const TaggedWords> sentences,
                      EntityReading reading, std::vector<std::string>* outputs = nullptr,
                      const PredictControl& control = {});

// A checkpoint's parameters, written like `model` (TaskEntry::save).
void save_tagger(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                 bool overwrite);

std::unique_ptr<Trainer> make_tag_trainer();
std::unique_ptr<Predictor> make_tag_predictor();

}  // namespace fovea
