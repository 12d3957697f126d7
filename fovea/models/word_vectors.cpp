#include "fovea/models/word_vectors.h"

#include <memory>

namespace fovea {
namespace {

Json new_word_vectors(const EncoderChoice& choice, const char* model_type) {
    WordModelConfig c;
    c.apply(choice);
    Json j = c.to_json(model_type);
    j.erase("hidden_size");
    return j;
}

}  // namespace

Json WordVectors::new_weighted_sum(const EncoderChoice& choice) {
    return new_word_vectors(choice, weighted_sum_type);
}

Json WordVectors::new_label_query(const EncoderChoice& choice) {
    return new_word_vectors(choice, label_query_type);
}

TextEncoder WordVectors::make(const Json& config, const std::string& where, const HeadChoice&,
                              const Params& p) {
    WordModelConfig c;
    c.read(config, where);
    const auto table = std::make_shared<const WordTable>(c, p / "embeddings");
    TextEncoder e = word_encoder(c, c.embedding_size, 0);
    e.rows = [table](const TokenBatch& batch) { return (*table)(batch); };
    return e;
}

}  // namespace fovea
