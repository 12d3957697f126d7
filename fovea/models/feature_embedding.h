#pragma once
// Words by what they look like, without any context but their neighbours': the features of a word
// (data/word_features.h) are rows of one table, and their sum is the word's row. With a CRF on top
// this is the log-linear tagger of Lafferty et al. 2001, at low rank: the baseline of networks.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <string>

#include "fovea/base/json.h"
#include "fovea/nn/params.h"
#include "fovea/tensor/segments.h"

namespace fovea {

struct FeatureEmbeddingConfig {
    int buckets = 1 << 16;  // rows of the table
    int width = 64;
    int features = 0;  // of each word
    float dropout = 0.5f;

    static FeatureEmbeddingConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
};

struct FeatureEmbedding {
    static constexpr const char* model_type = "fovea_word_features";

    FeatureEmbedding(const FeatureEmbeddingConfig& c, const Params& p);

    // ids [words · features]; the rows of the words of sentences, [words, width].
    Tensor operator()(const Ids& ids, const Segments& words) const;

    FeatureEmbeddingConfig config;
    // [buckets]: 1 for features that training saw more than once, marked before it begins. All
    // others are one feature of their place: so that the model learns what is new, and not rare
    // words by heart.
    Tensor known;
    Tensor table;  // [buckets + features, width]

private:
    Ids rows_of(const Ids& ids) const;
};

}  // namespace fovea
