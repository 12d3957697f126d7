#include "fovea/models/word_rows.h"

#include <memory>

namespace fovea {
namespace {

Json new_word_rows(const EncoderChoice& choice, const char* model_type) {
    WordModelConfig c;
    c.apply(choice);
    Json j = c.to_json(model_type);
    j.erase("hidden_size");
    return j;
}

}  // namespace

Json WordRows::new_weighted_sum(const EncoderChoice& choice) {
    return new_word_rows(choice, weighted_sum_type);
}

Json WordRows::new_label_query(const EncoderChoice& choice) {
    return new_word_rows(choice, label_query_type);
}

TextEncoder WordRows::make(const Json& config, const std::string& where, const HeadChoice&,
                           const Params& p) {
    WordModelConfig c;
    c.read(config, where);
    const auto table = std::make_shared<const WordTable>(c, p / "embeddings");
    TextEncoder e = word_encoder(c, c.embedding_size, 0);
    e.rows = [table](const TokenBatch& batch) { return (*table)(batch); };
    return e;
}

}  // namespace fovea
