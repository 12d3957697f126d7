#include "fovea/models/feature_embedding.h"

#include <cmath>

#include "fovea/base/json_fields.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {

FeatureEmbeddingConfig FeatureEmbeddingConfig::from_json(const Json& json,
                                                         const std::string& where) {
    FeatureEmbeddingConfig c;
    JsonFields f(json, where);
    f.require("buckets", c.buckets, {1, 1 << 26});
    f.require("hidden_size", c.width, {1, 1 << 16});
    f.require("features", c.features, {1, 1 << 10});
    f.read("dropout", c.dropout, {0, 0.99});
    return c;
}

Json FeatureEmbeddingConfig::to_json() const {
    return {{"model_type", FeatureEmbedding::model_type},
            {"buckets", buckets},
            {"hidden_size", width},
            {"features", features},
            {"dropout", dropout}};
}

// From zero: what training never saw says nothing.
FeatureEmbedding::FeatureEmbedding(const FeatureEmbeddingConfig& c, const Params& p)
    : config(c),
      known(p.constant("known", {c.buckets}, zeros())),
      table(p.rows("weight", {c.buckets + c.features, c.width}, zeros())) {}

Ids FeatureEmbedding::rows_of(const Ids& ids) const {
    Ids rows = ids;
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (known.data()[ids[i]] == 0)
            rows[i] = config.buckets + static_cast<std::int32_t>(i) % config.features;
    return rows;
}

//   row = Σ table[features of the word] / √features: as large as its parts
Tensor FeatureEmbedding::operator()(const Ids& ids, const Segments& words) const {
    expect(static_cast<std::int64_t>(ids.size()) == words.total() * config.features,
           "word features: ", ids.size(), " ids for ", words.total(), " words of ", config.features,
           " features");
    Tensor rows = std::sqrt(static_cast<float>(config.features)) *
                  segment_mean(gather_rows(table, rows_of(ids)),
                               Segments::uniform(words.total(), config.features));
    rows.set_row_names(words);
    return dropout(rows, config.dropout);
}

}  // namespace fovea
