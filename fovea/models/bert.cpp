#include "fovea/models/bert.h"

#include <memory>

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"

namespace fovea {

Init bert_init(const BertConfig& c) { return normal(static_cast<float>(c.initializer_range)); }

namespace {

LayerNorm bert_norm(const BertConfig& c, const Params& p) {
    return {c.hidden_size, p, static_cast<float>(c.layer_norm_eps)};
}

}  // namespace

BertEmbeddings::BertEmbeddings(const BertConfig& c, const Params& p)
    : word_embeddings(p.get("word_embeddings.weight", {c.vocab_size, c.hidden_size}, bert_init(c))),
      position_embeddings(p.exact("position_embeddings.weight",
                                  {c.max_position_embeddings, c.hidden_size}, bert_init(c))),
      token_type_embeddings(p.exact("token_type_embeddings.weight",
                                    {c.type_vocab_size, c.hidden_size}, bert_init(c))),
      norm(bert_norm(c, p / "LayerNorm")),
      p_drop(c.hidden_dropout()),
      first_position(c.first_position) {}

Tensor BertEmbeddings::operator()(const TokenBatch& batch) const {
    const auto rows = static_cast<std::size_t>(batch.segments.total());
    expect(batch.tokens.size() == rows, "bert: ", batch.tokens.size(), " tokens but segments for ",
           rows);
    expect(batch.types.empty() || batch.types.size() == rows, "bert: ", batch.types.size(),
           " token types for ", rows, " tokens");
    const Ids& types = batch.types.empty() ? Ids(rows, 0) : batch.types;
    const Tensor x = gather_rows(word_embeddings, batch.tokens) +
                     gather_rows(token_type_embeddings, types) + positions(batch);
    return dropout(norm(x), p_drop);
}

Tensor BertEmbeddings::positions(const TokenBatch& batch) const {
    if (batch.positions.empty())
        return learned_positions(position_embeddings, batch.segments, {.offset = first_position});
    expect(batch.positions.size() == batch.tokens.size(), "bert: ", batch.positions.size(),
           " positions for ", batch.tokens.size(), " tokens");
    Ids at = batch.positions;
    for (std::int32_t& p : at) p += first_position;
    Tensor x = gather_rows(position_embeddings, at);
    x.set_row_names(batch.segments);
    return x;
}

BertLayer::BertLayer(const BertConfig& c, const Params& p)
    : query(c.hidden_size, c.hidden_size, p / "attention" / "self" / "query", bert_init(c)),
      key(c.hidden_size, c.hidden_size, p / "attention" / "self" / "key", bert_init(c)),
      value(c.hidden_size, c.hidden_size, p / "attention" / "self" / "value", bert_init(c)),
      attention_output(c.hidden_size, c.hidden_size, p / "attention" / "output" / "dense",
                       bert_init(c)),
      attention_norm(bert_norm(c, p / "attention" / "output" / "LayerNorm")),
      intermediate(c.hidden_size, c.intermediate_size, p / "intermediate" / "dense", bert_init(c)),
      output(c.intermediate_size, c.hidden_size, p / "output" / "dense", bert_init(c)),
      output_norm(bert_norm(c, p / "output" / "LayerNorm")),
      name((p / "attention" / "self").path()),
      heads(c.num_attention_heads),
      act(c.hidden_act),
      attention_drop(static_cast<float>(c.attention_probs_dropout_prob)),
      p_drop(c.hidden_dropout()) {}

Tensor BertLayer::operator()(const Tensor& x, const Visibility& sees) const {
    const auto add_and_norm = [&](const Tensor& a, const Tensor& branch, const LayerNorm& norm) {
        return residual_layer_norm(a, branch, norm.weight, norm.bias,
                                   {.dropout = p_drop, .eps = norm.eps});
    };
    const Tensor mixed = attention(query(x), key(x), value(x), heads, sees,
                                   {.dropout = attention_drop, .name = name});
    const Tensor h = add_and_norm(x, attention_output(mixed), attention_norm);
    return add_and_norm(h, feed_forward(h, intermediate, output, act), output_norm);
}

BertModel::BertModel(const BertConfig& c, const Params& p) : embeddings(c, p / "embeddings") {
    for (int i = 0; i < c.num_hidden_layers; ++i)
        layers.emplace_back(c, p / "encoder" / "layer" / i);
}

Tensor BertModel::operator()(const TokenBatch& batch) const {
    Tensor x = embeddings(batch);
    const Visibility sees = everything(batch.segments, batch.segments);
    for (const BertLayer& layer : layers) x = layer(x, sees);
    return x;
}

BertPooler::BertPooler(const BertConfig& c, const Params& p)
    : dense(c.hidden_size, c.hidden_size, p / "dense", bert_init(c)) {}

Tensor BertPooler::operator()(const Tensor& rows, const Segments& segments) const {
    return dense(segment_first(rows, segments), Act::tanh);
}

MaskedWordHead::MaskedWordHead(const BertConfig& c, const Tensor& words, const Options& options,
                               const Params& p)
    : dense(c.hidden_size, c.hidden_size, p / options.dense, bert_init(c)),
      norm(bert_norm(c, p / options.norm)),
      act(options.act),
      decoder(words),
      bias(p.get("bias", {c.vocab_size}, zeros())) {
    p.tie("decoder.bias", p.full("bias"));
    p.tie("decoder.weight", options.words);
}

Tensor MaskedWordHead::operator()(const Tensor& rows) const {
    return linear(norm(dense(rows, act)), decoder, bias);
}

Tensor MaskedWordHead::loss(const Tensor& rows, const Ids& labels) const {
    return linear_cross_entropy(norm(dense(rows, act)), decoder, bias, labels);
}

}  // namespace fovea
