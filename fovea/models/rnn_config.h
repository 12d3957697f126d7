#pragma once
// Sizes and choices of the recurrent encoder-decoder.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <string>

#include "fovea/base/json.h"
#include "fovea/models/rnn_attention.h"
#include "fovea/nn/recurrent.h"

namespace fovea {

struct RnnConfig {
    std::string cell = "gru";  // or lstm
    int vocab_size = 37000;
    int decoder_vocab_size = 0;  // 0: the same vocabulary on both sides
    int d_model = 512;           // of embeddings, of the memory (half in each direction), of states
    int encoder_layers = 2;
    int decoder_layers = 2;
    int attention_heads = 1;
    RnnAttentionChoice attention;
    bool input_feeding = true;  // the last output joins the next input (Luong et al. 2015, §3.3)
    float dropout = 0.2f;
    bool share_encoder_decoder_embeddings = true;
    bool tie_word_embeddings = true;
    int max_position_embeddings = 1024;  // longest source; nothing in the model depends on it

    int pad_token_id = 0, eos_token_id = 1, decoder_start_token_id = 0;

    int target_vocab() const { return decoder_vocab_size > 0 ? decoder_vocab_size : vocab_size; }
    // A decoder without attention has no context to feed.
    bool feeds() const { return input_feeding && attention.view != SourceView::none; }

    void apply_preset(const std::string& name);  // tiny | small | base | big
    void check(const std::string& where) const;
    // model_type fovea_gru or fovea_lstm.
    static RnnConfig from_json(const Json& json, const std::string& where);
    Json to_json() const;
};

const RecurrentCell& recurrent_cell_named(const std::string& name);  // gru, lstm

}  // namespace fovea
