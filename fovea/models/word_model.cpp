#include "fovea/models/word_model.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {

void WordModelConfig::apply(const EncoderChoice& choice) {
    int width = 0;
    if (choice.preset == "tiny")
        width = 128;
    else if (choice.preset == "small")
        width = 256;
    else if (choice.preset == "base")
        width = 512;
    else if (choice.preset == "big")
        width = 1024;
    else
        fail_with(ErrorKind::usage, "one of tiny, small, base, big", "no preset \"", choice.preset,
                  "\"");
    embedding_size = choice.width.value_or(width);
    hidden_size = choice.hidden.value_or(width);
    if (choice.dropout) dropout = *choice.dropout;
    vocab_size = choice.vocabulary;
    max_position_embeddings = choice.max_length;
}

void WordModelConfig::read(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    f.require("vocab_size", vocab_size, {1, 1 << 24});
    f.require("embedding_size", embedding_size, {1, 1 << 16});
    f.read("hidden_size", hidden_size, {1, 1 << 16});
    f.read("max_position_embeddings", max_position_embeddings, {1, 1 << 20});
    f.read("dropout", dropout, {0, 0.99});
}

Json WordModelConfig::to_json(const char* model_type) const {
    return {{"model_type", model_type},
            {"vocab_size", vocab_size},
            {"embedding_size", embedding_size},
            {"hidden_size", hidden_size},
            {"max_position_embeddings", max_position_embeddings},
            {"dropout", dropout}};
}

WordTable::WordTable(const WordModelConfig& c, const Params& p)
    : weight(p.get("weight", {c.vocab_size, c.embedding_size},
                   normal(1.0f / std::sqrt(static_cast<float>(c.embedding_size))))),
      p_drop(c.dropout) {}

Tensor WordTable::operator()(const TokenBatch& batch) const {
    Tensor x = gather_rows(weight, batch.tokens);
    x.set_row_names(batch.segments);
    return dropout(x, p_drop);
}

TextEncoder word_encoder(const WordModelConfig& c, int width, int layers) {
    TextEncoder e;
    e.width = width;
    e.vocabulary = c.vocab_size;
    e.max_length = c.max_position_embeddings;
    e.layers = layers;
    e.dropout = c.dropout;
    e.layer_of = [layers](std::string_view name) {
        if (name.starts_with("embeddings.")) return 0;
        return name.starts_with("encoder.") ? 1 : layers + 1;
    };
    return e;
}

}  // namespace fovea
