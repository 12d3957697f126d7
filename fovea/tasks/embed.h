#pragma once
// Sentence vectors: a text as one vector, so that texts that mean the same lie close together. From
// any text encoder, whatever its folder was trained for, or from word vectors:
//
//   encoder:       v = pool(rows of the tokens), pool: first token, mean or max
//   word vectors:  v = mean of the words' vectors, each of length one (as fastText has it)
//   then v / ‖v‖ unless asked otherwise, so that a dot product is the cosine
//
// Texts longer than the model are read in overlapping windows, whose vectors are pooled in turn
// (mean: by their tokens).
//
//   const EmbedModel m = EmbedModel::open(ModelFolder::open("run/model"));
//   const Tensor v = sentence_vectors(m, texts);                 // [texts, width]
//   const auto like = nearest_texts(sentence_vectors(m, {"a query"}), v, 5);
//
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/models/text_encoder.h"
#include "fovea/models/word_vectors.h"
#include "fovea/nn/pooling.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea {

struct EmbedModel {
    ModelFolder folder;
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const TextEncoder> encoder;  // one of the two
    std::shared_ptr<const WordVectors> words;
    Pool pool = Pool::mean;
    Precision precision = Precision::f32;

    // A new model to be trained; `folder` has a text encoder's config and the tokenizer.
    static EmbedModel create(ModelFolder folder, Pool pool, std::uint64_t seed);
    // Any folder of a text encoder (its head is left), or of word vectors. Without a pool: the one
    // it was trained with, else the mean.
    static EmbedModel open(ModelFolder folder, std::optional<Pool> pool = {},
                           const WeightChoice& weights = {});
    void save(const std::string& path, bool overwrite = false) const;

    std::int64_t width() const { return encoder ? encoder->width : words->dim(); }
    // The tokens of a text with those of the template, in windows where it is too long.
    std::vector<Ids> encode(const std::string& text) const;
    // [sequences, width], as long as they come.
    Tensor pooled(const TokenBatch& batch) const;
};

struct EmbedOptions {
    bool normalised = true;
    std::int64_t batch_tokens = 4096;
    std::vector<std::string>* notes = nullptr;  // of each text, "" where there is none
};

// A text's vector does not depend on its neighbours. [texts, width]
Tensor sentence_vectors(const EmbedModel& model, std::span<const std::string> texts,
                        const EmbedOptions& options = {}, const PredictControl& control = {});

struct TextNeighbour {
    std::int64_t text;  // its number among the candidates
    float similarity;   // cosine
};
// For each query the `count` candidates most like it, best first; equal ones by their number.
std::vector<std::vector<TextNeighbour>> nearest_texts(const Tensor& queries,
                                                      const Tensor& candidates, std::size_t count);

// How often the partner of a text is the one most like it: pairs by their rows.
MetricScore score_pairs(const Tensor& left, const Tensor& right);

void save_embedder(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                   bool overwrite);

std::unique_ptr<Trainer> make_embed_trainer();
std::unique_ptr<Predictor> make_embed_predictor();

}  // namespace fovea
