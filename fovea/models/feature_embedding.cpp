#include "fovea/models/feature_embedding.h"

#include <cmath>
#include <vector>

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

FeatureEmbedding::FeatureEmbedding(const FeatureEmbeddingConfig& c, const Params& p)
    : config(c), table(p.get("weight", {c.buckets, c.width}, normal(0.1f))) {}

Tensor FeatureEmbedding::operator()(const Ids& ids, const Segments& words) const {
    expect(static_cast<std::int64_t>(ids.size()) == words.total() * config.features,
           "word features: ", ids.size(), " ids for ", words.total(), " words of ", config.features,
           " features");
    std::vector<std::int64_t> lengths;  // of the sentences, in features
    for (std::int64_t i = 0; i < words.count(); ++i)
        lengths.push_back(words.length(i) * config.features);
    const auto samples = words.samples();
    Tensor parts = gather_rows(table, ids);
    parts.set_row_names(Segments::of_lengths(lengths, {samples.begin(), samples.end()}));
    // Dropped before they are added up: no word may rely on one feature alone.
    parts = dropout(parts, config.dropout);
    // Σ / √features: rows as large as their parts
    Tensor rows = std::sqrt(static_cast<float>(config.features)) *
                  segment_mean(parts, Segments::uniform(words.total(), config.features));
    rows.set_row_names(words);
    return rows;
}

}  // namespace fovea
