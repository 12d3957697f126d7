#include "fovea/models/rnn_config.h"

#include "fovea/base/json_fields.h"
#include "fovea/nn/gru.h"
#include "fovea/nn/lstm.h"

namespace fovea {
namespace {

const std::string type_prefix = "fovea_";

// A file's names are bad input, not bad usage.
RnnAttentionChoice attention_of(const std::string& attention, const std::string& score,
                                const std::string& where) {
    try {
        return RnnAttentionChoice::parse(attention, score);
    } catch (const Error& e) {
        throw Error(where + ": " + e.what(), ErrorKind::bad_input, e.hint());
    }
}

}  // namespace

const RecurrentCell& recurrent_cell_named(const std::string& name) {
    for (const RecurrentCell* cell : {&gru_cell, &lstm_cell})
        if (name == cell->name) return *cell;
    fail_with(ErrorKind::usage, "one of gru, lstm", "no recurrent cell \"", name, "\"");
}

void RnnConfig::apply_preset(const std::string& name) {
    const auto set = [&](int layers, int width, float drop) {
        encoder_layers = decoder_layers = layers;
        d_model = width;
        dropout = drop;
    };
    if (name == "tiny")
        set(1, 128, 0.1f);
    else if (name == "small")
        set(1, 256, 0.2f);
    else if (name == "base")
        set(2, 512, 0.2f);
    else if (name == "big")
        set(4, 1024, 0.3f);
    else
        fail_with(ErrorKind::usage, "one of tiny, small, base, big", "no preset \"", name, "\"");
}

void RnnConfig::check(const std::string& where) const {
    const auto positive = [&](int n, const char* key, int most) {
        expect_input(n > 0 && n <= most, where, ": \"", key, "\" is ", n,
                     " but must be between 1 and ", most);
    };
    positive(vocab_size, "vocab_size", 1 << 24);
    positive(target_vocab(), "decoder_vocab_size", 1 << 24);
    positive(d_model, "d_model", 1 << 16);
    positive(encoder_layers, "encoder_layers", 512);
    positive(decoder_layers, "decoder_layers", 512);
    positive(attention_heads, "attention_heads", d_model);
    positive(max_position_embeddings, "max_position_embeddings", 1 << 24);
    expect_input(d_model % 2 == 0, where, ": d_model ", d_model,
                 " is odd, but half of it belongs to each direction of the encoder");
    expect_input(d_model % attention_heads == 0, where, ": d_model ", d_model,
                 " does not split into ", attention_heads, " heads");
    expect_input(!share_encoder_decoder_embeddings || target_vocab() == vocab_size, where,
                 ": one embedding for both sides needs one vocabulary, but there are ", vocab_size,
                 " and ", target_vocab(), " tokens");
    for (const int id : {eos_token_id, decoder_start_token_id})
        expect_input(id >= 0 && id < target_vocab(), where, ": special token id ", id,
                     " lies outside the vocabulary of ", target_vocab());
}

RnnConfig RnnConfig::from_json(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    RnnConfig c;
    std::string type, attention = "global", score = "general";
    f.require("model_type", type);
    expect_input(type == "fovea_gru" || type == "fovea_lstm", where, ": \"model_type\" is \"", type,
                 "\" but fovea_gru or fovea_lstm is wanted");
    c.cell = type.substr(type_prefix.size());
    f.read("vocab_size", c.vocab_size, {1});
    f.read("decoder_vocab_size", c.decoder_vocab_size, {0});
    f.read("d_model", c.d_model, {1});
    f.read("encoder_layers", c.encoder_layers, {1});
    f.read("decoder_layers", c.decoder_layers, {1});
    f.read("attention_heads", c.attention_heads, {1});
    f.read("attention", attention);
    f.read("score", score);
    f.read("input_feeding", c.input_feeding);
    f.read("dropout", c.dropout, {0, 1});
    f.read("share_encoder_decoder_embeddings", c.share_encoder_decoder_embeddings);
    f.read("tie_word_embeddings", c.tie_word_embeddings);
    f.read("max_position_embeddings", c.max_position_embeddings, {1});
    f.read("pad_token_id", c.pad_token_id, {0});
    f.read("eos_token_id", c.eos_token_id, {0});
    f.read("decoder_start_token_id", c.decoder_start_token_id, {0});
    c.attention = attention_of(attention, score, where);
    c.check(where);
    return c;
}

Json RnnConfig::to_json() const {
    return {{"model_type", type_prefix + cell},
            {"vocab_size", vocab_size},
            {"decoder_vocab_size", target_vocab()},
            {"d_model", d_model},
            {"encoder_layers", encoder_layers},
            {"decoder_layers", decoder_layers},
            {"attention_heads", attention_heads},
            {"attention", attention.attention_name()},
            {"score", attention.score_name()},
            {"input_feeding", input_feeding},
            {"dropout", dropout},
            {"share_encoder_decoder_embeddings", share_encoder_decoder_embeddings},
            {"tie_word_embeddings", tie_word_embeddings},
            {"max_position_embeddings", max_position_embeddings},
            {"pad_token_id", pad_token_id},
            {"eos_token_id", eos_token_id},
            {"decoder_start_token_id", decoder_start_token_id},
            {"is_encoder_decoder", true}};
}

}  // namespace fovea
