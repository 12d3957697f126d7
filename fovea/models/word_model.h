#pragma once
// What the small models over word vectors share: their sizes, and the table of the vectors.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <string>

#include "fovea/base/json.h"
#include "fovea/models/text_encoder.h"

namespace fovea {

struct WordModelConfig {
    int vocab_size = 0;
    int embedding_size = 128;           // of a word vector
    int hidden_size = 128;              // of a row behind attention, windows or recurrence
    int max_position_embeddings = 512;  // longest text
    float dropout = 0.3f;

    void apply(const EncoderChoice& choice);  // wrong sizes are usage errors
    void read(const Json& json, const std::string& where);
    Json to_json(const char* model_type) const;
};

// The vectors of a batch's words, [total, embedding_size], rows named.
struct WordTable {
    WordTable(const WordModelConfig& c, const Params& p);
    Tensor operator()(const TokenBatch& batch) const;

    Tensor weight;  // [vocab_size, embedding_size]
    float p_drop;
};

// What all of them tell tasks; `rows` is left to the model. Parameters below "embeddings." are
// layer 0, those below "encoder." layer 1.
TextEncoder word_encoder(const WordModelConfig& c, int width, int layers);

}  // namespace fovea
