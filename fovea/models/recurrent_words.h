#pragma once
// A recurrence reads the words in both directions; row i holds what was read up to word i from
// either side (Schuster and Paliwal 1997):
//
//   row_i = [h→_i, h←_i],   h→_i = cell(x_i, h→_{i-1}),   h←_i = cell(x_i, h←_{i+1})
//
// The cell is a GRU (Cho et al. 2014) or an LSTM (Hochreiter and Schmidhuber 1997); with a CRF on
// top the latter is the tagger of Huang et al. 2015.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/models/word_model.h"
#include "fovea/nn/recurrent.h"

namespace fovea {

struct RecurrentWordsConfig : WordModelConfig {
    int num_hidden_layers = 1;

    static RecurrentWordsConfig from_json(const Json& json, const std::string& where);
    Json to_json(const char* model_type) const;
};

struct RecurrentWords {
    static constexpr const char* gru_type = "fovea_gru_words";
    static constexpr const char* lstm_type = "fovea_lstm_words";
    static constexpr std::string_view sizes = "layers d-model hidden";

    RecurrentWords(const RecurrentWordsConfig& c, const RecurrentCell& cell, const Params& p);
    Tensor operator()(const TokenBatch& batch) const;  // [total, 2 · hidden_size]

    static Json new_gru(const EncoderChoice& choice);
    static Json new_lstm(const EncoderChoice& choice);
    static TextEncoder make(const Json& config, const std::string& where, const HeadChoice& head,
                            const Params& p);
    static std::span<const NameRule> rules() { return {}; }

    RecurrentWordsConfig config;
    WordTable embeddings;
    Recurrent reader;
};

}  // namespace fovea
