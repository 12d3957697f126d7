#include "fovea/tasks/classify.h"

#include <algorithm>

#include "fovea/data/batch_plan.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/softmax.h"

namespace fovea {
namespace {

PoolingOptions pooling_of(const Json& config, int classes, int max_length) {
    return {.pool = pool_of(config.value("pooling", std::string("mean"))),
            .classes = classes,
            .max_positions = max_length};
}

}  // namespace

TextClassifier::TextClassifier(const Json& config, const std::string& where, int classes,
                               const Params& p)
    : encoder(text_encoder_of(config, where).make(config, where, {Head::classes, classes}, p)),
      pooling(encoder.width, pooling_of(config, classes, encoder.max_length), p / "pooling"),
      // With a query for each class there is a vector for each: one weight vector judges them all.
      head(encoder.width, pooling.options.pool == Pool::queries ? 1 : classes, p / "classifier") {}

Tensor TextClassifier::logits(const TokenBatch& batch) const {
    const Tensor v = pooling(encoder.rows(batch), batch.segments);
    const Tensor y = head(dropout(v, encoder.dropout));
    if (pooling.options.pool != Pool::queries) return y;
    return y.reshaped({batch.segments.count(), pooling.options.classes});
}

ClassifyModel ClassifyModel::create(ModelFolder folder, const PoolingOptions& pooling,
                                    std::uint64_t seed) {
    ClassifyModel m;
    m.folder = std::move(folder);
    m.folder.task = "classify";
    m.folder.config["pooling"] = name_of(pooling.pool);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, 0x696e6974);  // the stream of initial values
    m.network = std::make_shared<const TextClassifier>(
        m.folder.config, "config", static_cast<int>(m.folder.labels.size()), Params(*m.store, rng));
    return m;
}

ClassifyModel ClassifyModel::open(ModelFolder folder, const WeightChoice& weights) {
    ClassifyModel m;
    m.folder = std::move(folder);
    m.precision = weights.precision;
    const std::string where = m.folder.config_path();
    expect_input(m.folder.labels.size() >= 2, where, ": \"id2label\" names ",
                 m.folder.labels.size(), " labels, but a classifier has at least 2");
    const auto make = [&](const Params& p) {
        return std::make_shared<const TextClassifier>(m.folder.config, where,
                                                      static_cast<int>(m.folder.labels.size()), p);
    };
    m.store = m.folder.load(text_encoder_of(m.folder.config, where).rules(), weights.format, make);
    Rng unused;
    m.network = make(Params(*m.store, unused));
    return m;
}

void ClassifyModel::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, text_encoder_of(folder.config, "config").rules(), overwrite);
}

void save_classifier(const ModelFolder& model, const ParameterStore& trained,
                     const std::string& out, bool overwrite) {
    model.save(out, trained, text_encoder_of(model.config, model.config_path()).rules(), overwrite);
}

Ids ClassifyModel::encode(const std::string& text, bool* cut) const {
    const std::vector<TokenId> ids = folder.tokenizer->encode_ids(text);
    Ids out(ids.begin(), ids.end());
    const auto most = static_cast<std::size_t>(network->encoder.max_length);
    if (cut) *cut = out.size() > most;
    if (out.size() > most) {
        out[most - 1] = out.back();  // the end token stays
        out.resize(most);
    }
    return out;
}

std::vector<TextLabel> classify(const ClassifyModel& model, std::span<const std::string> texts,
                                std::int64_t batch_tokens, const PredictControl& control) {
    const PrecisionScope scope(model.precision);
    std::vector<TextLabel> out(texts.size());
    std::vector<Ids> ids(texts.size());
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        ids[i] = model.encode(texts[i], &out[i].cut);
        lengths.push_back(static_cast<std::int64_t>(ids[i].size()));
    }
    const BatchPlan plan(lengths, {.max_tokens = batch_tokens, .shuffle = false}, 0);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        if (control.stop && control.stop->load()) break;
        const Tensor p = softmax(model.network->logits(pack(ids, plan[b], {})));
        for (std::size_t k = 0; k < plan[b].size(); ++k) {
            TextLabel& t = out[static_cast<std::size_t>(plan[b][k])];
            const float* row = p.data() + static_cast<std::int64_t>(k) * p.cols();
            t.probabilities.assign(row, row + p.cols());
            t.label =
                model.folder
                    .labels[static_cast<std::size_t>(std::max_element(row, row + p.cols()) - row)];
        }
        done += static_cast<std::int64_t>(plan[b].size());
        if (control.progress) control.progress(done, static_cast<std::int64_t>(texts.size()));
    }
    return out;
}

}  // namespace fovea
