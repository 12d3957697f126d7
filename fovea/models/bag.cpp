#include "fovea/models/bag.h"

#include <memory>

#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {

BagConfig BagConfig::from_json(const Json& json, const std::string& where) {
    BagConfig c;
    c.read(json, where);
    c.read_runs(json, where);
    return c;
}

Json BagConfig::to_json() const {
    Json j = WordModelConfig::to_json(Bag::model_type);
    j.erase("hidden_size");
    write_runs(j);
    return j;
}

// The table begins near zero (Joulin et al.'s own code: uniform within 1 / d): runs that were
// never seen say little.
Bag::Bag(const BagConfig& c, const Params& p)
    : config(c),
      table(p.rows("embeddings.weight", {c.vocab_size + c.buckets, c.embedding_size},
                   uniform(1.0f / static_cast<float>(c.embedding_size)))) {}

Tensor Bag::operator()(const TokenBatch& batch) const {
    WordRuns runs(config, config.vocab_size);
    for (std::int64_t s = 0; s < batch.segments.count(); ++s)
        runs.add(std::span(batch.tokens)
                     .subspan(static_cast<std::size_t>(batch.segments.begin(s)),
                              static_cast<std::size_t>(batch.segments.length(s))));
    Tensor y = segment_mean(gather_rows(table, runs.ids), Segments::of_lengths(runs.lengths));
    y.set_row_names(batch.segments);
    return y;
}

Json Bag::new_config(const EncoderChoice& choice) {
    BagConfig c;
    c.apply(choice);
    c.apply_runs(choice);
    return c.to_json();
}

TextEncoder Bag::make(const Json& config, const std::string& where, const HeadChoice&,
                      const Params& p) {
    const auto model = std::make_shared<const Bag>(BagConfig::from_json(config, where), p);
    TextEncoder e = word_encoder(model->config, model->config.embedding_size, 0);
    e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    return e;
}

}  // namespace fovea
