#include "fovea/models/feature_embedding.h"

#include "fovea/base/json_fields.h"
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

FeatureEmbedding::FeatureEmbedding(const FeatureEmbeddingConfig& c, const Params& p)
    : config(c), table(p.get("weight", {c.buckets, c.width}, normal(0.1f))) {}

Tensor FeatureEmbedding::operator()(const Ids& ids, const Segments& words) const {
    expect(static_cast<std::int64_t>(ids.size()) == words.total() * config.features,
           "word features: ", ids.size(), " ids for ", words.total(), " words of ", config.features,
           " features");
    Tensor rows =
        segment_mean(gather_rows(table, ids), Segments::uniform(words.total(), config.features));
    rows.set_row_names(words);
    return rows;
}

}  // namespace fovea
