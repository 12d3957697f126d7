#include "fovea/models/recurrent_words.h"

#include <memory>

#include "fovea/base/json_fields.h"
#include "fovea/nn/gru.h"
#include "fovea/nn/lstm.h"

namespace fovea {
namespace {

Json new_recurrent_words(const EncoderChoice& choice, const char* model_type) {
    RecurrentWordsConfig c;
    c.apply(choice);
    c.num_hidden_layers = choice.layers.value_or(1);
    return c.to_json(model_type);
}

}  // namespace

RecurrentWordsConfig RecurrentWordsConfig::from_json(const Json& json, const std::string& where) {
    RecurrentWordsConfig c;
    c.read(json, where);
    JsonFields(json, where).read("num_hidden_layers", c.num_hidden_layers, {1, 64});
    return c;
}

Json RecurrentWordsConfig::to_json(const char* model_type) const {
    Json j = WordModelConfig::to_json(model_type);
    j["num_hidden_layers"] = num_hidden_layers;
    return j;
}

RecurrentWords::RecurrentWords(const RecurrentWordsConfig& c, const RecurrentCell& cell,
                               const Params& p)
    : config(c),
      embeddings(c, p / "embeddings"),
      reader(cell, c.embedding_size, c.hidden_size, p / "encoder",
             {.layers = c.num_hidden_layers, .bidirectional = true, .dropout = c.dropout}) {}

Tensor RecurrentWords::operator()(const TokenBatch& batch) const {
    Tensor rows = reader(embeddings(batch), batch.segments);
    rows.set_row_names(batch.segments);
    return rows;
}

Json RecurrentWords::new_gru(const EncoderChoice& choice) {
    return new_recurrent_words(choice, gru_type);
}

Json RecurrentWords::new_lstm(const EncoderChoice& choice) {
    return new_recurrent_words(choice, lstm_type);
}

TextEncoder RecurrentWords::make(const Json& config, const std::string& where, const HeadChoice&,
                                 const Params& p) {
    const bool lstm = model_type_of(config) == lstm_type;
    const auto model = std::make_shared<const RecurrentWords>(
        RecurrentWordsConfig::from_json(config, where), lstm ? lstm_cell : gru_cell, p);
    TextEncoder e =
        word_encoder(model->config, model->reader.out(), model->config.num_hidden_layers);
    e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    e.layer_of = [layers = e.layers](std::string_view name) {
        if (name.starts_with("embeddings.")) return 0;
        return name.starts_with("encoder.") ? Recurrent::layer_of(std::string(name)) + 1
                                            : layers + 1;
    };
    return e;
}

}  // namespace fovea
