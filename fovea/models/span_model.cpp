#include "fovea/models/span_model.h"

#include <memory>

#include "fovea/models/reader.h"
#include "fovea/models/text_encoder.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/dropout.h"

namespace fovea {
namespace {

bool is_reader(const Json& config) { return model_type_of(config) == Reader::model_type; }

SpanModel reader_as_span_model(const Json& config, const std::string& where, const Params& p) {
    const auto reader = std::make_shared<const Reader>(ReaderConfig::from_json(config, where), p);
    const ReaderConfig& c = reader->config;
    SpanModel m;
    m.width = c.hidden_size;
    m.vocabulary = c.vocab_size;
    m.layers = c.num_hidden_layers + 2;  // the encoder below and the block of the end
    m.max_length = c.max_position_embeddings;
    m.reads_words = true;
    m.scores = [reader](const ReadingBatch& batch) { return (*reader)(batch); };
    m.layer_of = [last = m.layers + 1](std::string_view name) {
        if (name.starts_with("embedding.")) return 0;
        if (name.starts_with("encoder")) return 1;
        return name.starts_with("layers.") ? 1 + numbered_layer(name, "layers.") : last;
    };
    return m;
}

// The head of published checkpoints where the encoder has one; else a linear layer.
SpanModel encoder_as_span_model(const Json& config, const std::string& where, const Params& p) {
    const auto encoder = std::make_shared<TextEncoder>(
        text_encoder_of(config, where).make(config, where, {Head::spans}, p));
    if (!encoder->spans)
        encoder->spans = [head = Linear(encoder->width, 2, p / "qa_outputs"),
                          drop = encoder->dropout](const Tensor& rows) {
            return head(dropout(rows, drop));
        };
    SpanModel m;
    m.width = encoder->width;
    m.vocabulary = encoder->vocabulary;
    m.layers = encoder->layers;
    m.max_length = encoder->max_length;
    m.scores = [encoder](const ReadingBatch& batch) {
        return SpanScores{encoder->spans(encoder->rows(batch.tokens)), batch.tokens.segments};
    };
    m.layer_of = encoder->layer_of;
    m.encoder = encoder;
    return m;
}

}  // namespace

SpanModel make_span_model(const Json& config, const std::string& where, const Params& p) {
    return is_reader(config) ? reader_as_span_model(config, where, p)
                             : encoder_as_span_model(config, where, p);
}

std::span<const NameRule> span_model_rules(const Json& config, const std::string& where) {
    if (is_reader(config)) return {};
    return text_encoder_of(config, where).rules();
}

}  // namespace fovea
