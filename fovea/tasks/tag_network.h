#pragma once
// A network that judges the words of sentences: any text encoder at the first piece of each word,
// what words look like, or both side by side, under a linear layer (the encoder's own head, where
// its checkpoints have one); with a CRF the tags of a sentence are judged together.
//
//   rows = encoder(pieces)[first pieces] ; features(words)
//   e = rows Wᵀ + b      tags = softmax(e), or CRF(e)
//
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/models/feature_embedding.h"
#include "fovea/models/text_encoder.h"
#include "fovea/nn/crf.h"
#include "fovea/nn/linear.h"
#include "fovea/tasks/tag_words.h"

namespace fovea {

// What is chosen when a model is made, besides its encoder.
struct TagChoice {
    bool crf = true;
    bool entities = true;  // labels are BIO2: I-X follows only B-X and I-X
    int features = 0;      // width of what words look like, beside the encoder; 0: without
    float feature_dropout = 0.5f;

    void write(Json& config) const;  // into config.json, over what another task wrote there
};

struct TagNetwork {
    TagNetwork(const Json& config, const std::string& where, const std::vector<std::string>& labels,
               const Params& p);
    Tensor rows(const WordBatch& batch) const;   // [words, width]
    Tensor emissions(const Tensor& rows) const;  // [words, labels]
    Tensor emissions(const WordBatch& batch) const { return emissions(rows(batch)); }
    // Mean over words.
    Tensor loss(const Tensor& emissions, const Segments& words, const Ids& tags) const;
    Tensor loss(const WordBatch& batch, const Ids& tags) const {
        return loss(emissions(batch), batch.words, tags);
    }
    WordReading reading(const Tokenizer& tokenizer) const;
    int width() const;  // of a row

    std::optional<TextEncoder> encoder;
    std::optional<FeatureEmbedding> features;  // instead of an encoder, or beside it
    std::optional<Linear> head;                // where the encoder has none of its own
    std::optional<Crf> crf;
    TagOrder order;  // empty: any tag may follow any other
};

// The tags of words, and the probabilities of all labels for each.
struct JudgedWords {
    Ids tags;
    Tensor probabilities;  // [words, labels]
};
JudgedWords judged(const TagNetwork& network, const Tensor& emissions, const Segments& words);

// Features that stand in the training data once are no features (FeatureEmbedding::known).
void mark_known_features(const TagNetwork& network, std::span<const EncodedWords> sentences);

bool is_feature_model(const Json& config);  // word features alone
std::span<const NameRule> tag_network_rules(const Json& config, const std::string& where);
// What taggers and slot fillers put on an encoder, for ModelFolder::load_body.
std::span<const std::string> tag_head_patterns();
// The tokenizer fits the encoder, and a window has room for words.
void check_word_reading(const TagNetwork& network, const Tokenizer& tokenizer,
                        const std::string& where);

}  // namespace fovea
