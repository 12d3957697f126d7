#pragma once
// Word vectors as a model folder: trained by `fovea train --task vectors`, read from and written to
// the files of word2vec and fastText, asked for neighbours and analogies.
//
//   const WordVectorModel m = WordVectorModel::open(ModelFolder::open("run/model"));
//   for (const WordAnswer& w : nearest_words(m, {"king", "king - man + woman"}, 10)[1]) …
//
// Thread-safety: a loaded model does not change; any number of threads may use it.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/io/word_vectors.h"
#include "fovea/models/word_vectors.h"
#include "fovea/tasks/model_folder.h"
#include "fovea/tasks/task.h"

namespace fovea {

inline constexpr const char* word_vectors_type = "fovea_word_vectors";  // config.json's model_type

struct WordVectorModel {
    ModelFolder folder;  // its tokenizer has the words
    std::shared_ptr<ParameterStore> store;
    std::shared_ptr<const WordVectors> vectors;

    // A new folder around a table (whose tensors become its parameters).
    static WordVectorModel of(WordVectors vectors, Json settings = Json::object());
    static WordVectorModel open(ModelFolder folder);
    // A folder, or a file of word2vec or fastText; `notes` hears what was odd in it.
    static WordVectorModel load(const std::string& path, std::vector<std::string>* notes = nullptr);
    void save(const std::string& path, bool overwrite = false) const;

    // As a file: text and word2vec hold the words' own vectors (n-grams are in them).
    WordVectorFile file(WordVectorFormat format) const;
};

WordVectors word_vectors_of(WordVectorFile file);

struct WordAnswer {
    std::string word;
    float similarity = 0;  // cosine
};

// The words nearest to each query: a word, or words with + and − between them (king - man + woman:
// each of length one before they are added, Mikolov et al. 2013). Words of the query are left out.
// A word of which nothing is known is an error.
std::vector<std::vector<WordAnswer>> nearest_words(const WordVectorModel& model,
                                                   std::span<const std::string> queries,
                                                   std::size_t count);

void save_word_vectors(const ModelFolder& model, const ParameterStore& trained,
                       const std::string& out, bool overwrite);

std::unique_ptr<Trainer> make_vectors_trainer();
std::unique_ptr<Predictor> make_vectors_predictor();

}  // namespace fovea
