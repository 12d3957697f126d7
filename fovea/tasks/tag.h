#pragma once
// Tagging: a label for each word, and the entities that B- and I- labels mark. Any text encoder,
// judged at the first piece of each word, under a linear layer (the encoder's own head, where its
// checkpoints have one); with a CRF the tags of a sentence are judged together.
//
//   rows = encoder(pieces)      e = rows[first pieces] Wᵀ + b      tags = softmax(e), or CRF(e)
//
// A sentence longer than the encoder takes is read in windows that overlap; a word's row comes from
// the window in which it stands furthest from an edge.
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/conll.h"
#include "fovea/metrics/entities.h"
#include "fovea/models/feature_embedding.h"
#include "fovea/models/text_encoder.h"
#include "fovea/nn/crf.h"
#include "fovea/nn/linear.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

// The words of a sentence as a network reads them.
struct EncodedWords {
    std::vector<Ids> windows, types;  // of pieces; types: empty where the tokenizer gives none
    Ids rows;                         // of each word: its first piece, counted over the windows
    Ids features;                     // of a model without an encoder, instead
    std::int64_t words = 0, tokens = 0;
};

struct WordBatch {
    TokenBatch pieces;
    Ids rows, features;
    Segments words;  // of the sentences
};
// sentences[indices[0]], sentences[indices[1]], …
WordBatch pack_words(std::span<const EncodedWords> sentences,
                     std::span<const std::int64_t> indices);

struct TagNetwork {
    TagNetwork(const Json& config, const std::string& where, const std::vector<std::string>& labels,
               const Params& p);
    Tensor emissions(const WordBatch& batch) const;              // [words, labels]
    Tensor loss(const WordBatch& batch, const Ids& tags) const;  // mean over words

    std::optional<TextEncoder> encoder;
    std::optional<FeatureEmbedding> features;  // instead of an encoder
    std::optional<Linear> head;                // where the encoder has none of its own
    std::optional<Crf> crf;
    TagOrder order;  // empty: any tag may follow any other
};

// What is chosen when a model is made, besides its encoder.
struct TagChoice {
    bool crf = true;
    bool entities = true;  // labels are BIO2: I-X follows only B-X and I-X
};

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

struct WordTag {
    std::int64_t start = 0, end = 0;  // characters of the text
    std::string tag;
    float probability = 0;  // of this tag, whatever those of the other words
};

struct TextEntity {
    std::int64_t start = 0, end = 0;  // characters of the text
    std::string label, text;
    double score = 0;  // mean probability of its words' tags
};

struct TaggedText {
    std::vector<WordTag> words;
    // Of a model without B- and I- labels: every word whose tag is not O.
    std::vector<TextEntity> entities;
    std::int64_t windows = 0;  // more than one: the text was longer than the model takes
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
