#include "fovea/tasks/tag_network.h"

#include <algorithm>

#include "fovea/base/json_fields.h"
#include "fovea/data/tag_scheme.h"
#include "fovea/data/word_features.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/softmax.h"

namespace fovea {
namespace {

bool flag_in(const Json& config, const std::string& where, const char* name) {
    bool on = false;
    JsonFields(config, where).read(name, on);
    return on;
}

// I-X only behind B-X or I-X; anything may end.
TagOrder bio_order(const std::vector<std::string>& labels) {
    TagOrder order;
    const std::size_t n = labels.size();
    order.end.assign(n, 1);
    order.start.assign(n, 1);
    order.pairs.assign(n * n, 1);
    for (std::size_t after = 0; after < n; ++after) {
        const auto t = chunk_tag(labels[after]);
        if (!t || t->part != 'I') continue;
        order.start[after] = 0;
        for (std::size_t before = 0; before < n; ++before) {
            const auto b = chunk_tag(labels[before]);
            order.pairs[before * n + after] = b && b->part != 'O' && b->type == t->type;
        }
    }
    return order;
}

Ids highest_of_each(const Tensor& x) {
    Ids best;
    for (std::int64_t i = 0; i < x.rows(); ++i) {
        const float* row = x.data() + i * x.cols();
        best.push_back(static_cast<std::int32_t>(std::max_element(row, row + x.cols()) - row));
    }
    return best;
}

}  // namespace

bool is_feature_model(const Json& config) {
    return model_type_of(config) == FeatureEmbedding::model_type;
}

std::span<const NameRule> tag_network_rules(const Json& config, const std::string& where) {
    if (is_feature_model(config)) return {};
    return text_encoder_of(config, where).rules();
}

std::span<const std::string> tag_head_patterns() {
    static const std::string patterns[] = {"classifier.**", "crf.**", "pooling.**", "features.**",
                                           "intent.**"};
    return patterns;
}

void TagChoice::write(Json& config) const {
    for (const char* old :
         {"pooling", "problem_type", "crf", "bio", "word_features", "intents", "intent_pooling"})
        config.erase(old);
    config["crf"] = crf;
    config["bio"] = entities;
    if (is_feature_model(config)) return;
    if (features > 0) {
        FeatureEmbeddingConfig c;
        c.features = word_feature_count;
        c.width = features;
        c.dropout = feature_dropout;
        config["word_features"] = c.to_json();
    }
    name_architecture(config, features > 0 ? Head::none : Head::tags);
}

TagNetwork::TagNetwork(const Json& config, const std::string& where,
                       const std::vector<std::string>& labels, const Params& p) {
    const int classes = static_cast<int>(labels.size());
    const bool beside = config.contains("word_features");
    if (is_feature_model(config) || beside)
        features.emplace(
            FeatureEmbeddingConfig::from_json(beside ? config["word_features"] : config, where),
            p / "features");
    if (features)
        expect_input(features->config.features == word_feature_count, where, ": words have ",
                     features->config.features, " features here, but ", word_feature_count,
                     " are known");
    if (!is_feature_model(config)) {
        const HeadChoice own = beside ? HeadChoice{} : HeadChoice{Head::tags, classes};
        encoder = text_encoder_of(config, where).make(config, where, own, p);
    }
    if (!encoder || !encoder->tags) head.emplace(width(), classes, p / "classifier");
    if (flag_in(config, where, "crf")) crf.emplace(classes, p / "crf");
    if (flag_in(config, where, "bio")) order = bio_order(labels);
}

int TagNetwork::width() const {
    return (encoder ? encoder->width : 0) + (features ? features->config.width : 0);
}

WordReading TagNetwork::reading(const Tokenizer& tokenizer) const {
    WordReading r;
    if (encoder) r.tokenizer = &tokenizer, r.max_length = encoder->max_length;
    if (features) r.buckets = features->config.buckets;
    return r;
}

Tensor TagNetwork::rows(const WordBatch& batch) const {
    Tensor looks;
    if (features) looks = (*features)(batch.features, batch.words);
    if (!encoder) return looks;
    Tensor rows = gather_rows(encoder->rows(batch.pieces), batch.rows);
    rows.set_row_names(batch.words);
    if (encoder->tags) return rows;  // its head has its own dropout
    rows = dropout(rows, encoder->dropout);
    if (features) rows = concat_cols({rows, looks});
    rows.set_row_names(batch.words);
    return rows;
}

Tensor TagNetwork::emissions(const Tensor& rows) const {
    return head ? (*head)(rows) : encoder->tags(rows);
}

Tensor TagNetwork::loss(const Tensor& emissions, const Segments& words, const Ids& tags) const {
    return crf ? crf->loss(emissions, words, tags, {.order = order})
               : cross_entropy(emissions, tags);
}

JudgedWords judged(const TagNetwork& network, const Tensor& e, const Segments& words) {
    if (network.crf)
        return {network.crf->decode(e, words, network.order).tags,
                network.crf->marginals(e, words, network.order)};
    const Tensor p = softmax(e);
    if (network.order.pairs.empty()) return {highest_of_each(e), p};
    // Without a CRF tags say nothing about each other, but their order holds.
    const std::int64_t n = e.cols();
    const CrfWeights nothing{Tensor::zeros({n, n}), Tensor::zeros({n}), Tensor::zeros({n})};
    return {crf_decode(e, words, nothing, network.order).tags, p};
}

void mark_known_features(const TagNetwork& network, std::span<const EncodedWords> sentences) {
    if (!network.features) return;
    Tensor known = network.features->known;
    std::vector<int> seen(static_cast<std::size_t>(known.size()));
    for (const EncodedWords& s : sentences)
        for (const std::int32_t id : s.features) ++seen[static_cast<std::size_t>(id)];
    for (std::size_t i = 0; i < seen.size(); ++i) known.write()[i] = seen[i] > 1 ? 1.0f : 0.0f;
}

void check_word_reading(const TagNetwork& network, const Tokenizer& tokenizer,
                        const std::string& where) {
    if (!network.encoder) return;
    expect_input(tokenizer.vocab_size() <= network.encoder->vocabulary, where, ": the model has ",
                 network.encoder->vocabulary, " tokens but its tokenizer has ",
                 tokenizer.vocab_size());
    expect_input(network.encoder->max_length > tokenizer.special_tokens_added(), where,
                 ": the model takes ", network.encoder->max_length,
                 " tokens, which leaves no room for words beside the special ones");
}

}  // namespace fovea
