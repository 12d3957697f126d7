#include "fovea/models/transformer.h"

#include <cmath>

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {

Tensor FeedForward::operator()(const Tensor& x) const { return fc2(dropout(fc1(x, act), p_drop)); }

Tensor Residual::operator()(const Tensor& x, const std::function<Tensor(const Tensor&)>& f) const {
    if (before) return x + dropout(f(norm(x)), p_drop);
    return residual_layer_norm(x, f(x), norm.weight, norm.bias,
                               {.dropout = p_drop, .eps = norm.eps});
}

namespace {

SelfAttention::Options self_attention_of(const TransformerConfig& c) {
    return {
        .positions = c.positions, .clip = c.max_relative_position, .dropout = c.attention_dropout};
}

}  // namespace

EncoderLayer::EncoderLayer(const TransformerConfig& c, const Params& p)
    : self_attn(c.d_model, c.encoder_attention_heads, self_attention_of(c), p / "self_attn"),
      self_attn_layer_norm(c, p / "self_attn_layer_norm"),
      feed_forward(c.d_model, c.encoder_ffn_dim, c.activation_function, c.activation_dropout, p),
      final_layer_norm(c, p / "final_layer_norm") {}

Tensor EncoderLayer::operator()(const Tensor& x, const Segments& segments,
                                const Sight& sees) const {
    const Tensor h =
        self_attn_layer_norm(x, [&](const Tensor& y) { return self_attn(y, segments, sees); });
    return final_layer_norm(h, feed_forward);
}

DecoderLayer::DecoderLayer(const TransformerConfig& c, const Params& p)
    : self_attn(c.d_model, c.decoder_attention_heads, self_attention_of(c), p / "self_attn"),
      self_attn_layer_norm(c, p / "self_attn_layer_norm"),
      encoder_attn(c.d_model, c.decoder_attention_heads, p / "encoder_attn", c.attention_dropout),
      encoder_attn_layer_norm(c, p / "encoder_attn_layer_norm"),
      feed_forward(c.d_model, c.decoder_ffn_dim, c.activation_function, c.activation_dropout, p),
      final_layer_norm(c, p / "final_layer_norm") {}

Tensor DecoderLayer::operator()(const Tensor& x, const Attend& self, const Attend& cross) const {
    Tensor h = self_attn_layer_norm(x, self);
    h = encoder_attn_layer_norm(h, cross);
    return final_layer_norm(h, feed_forward);
}

TokenEmbedding::TokenEmbedding(const TransformerConfig& c, const Tensor& table, const Params& p)
    : config(c), embed_tokens(table) {
    if (c.positions == PositionCode::learned)
        embed_positions =
            p.exact("embed_positions.weight",
                    {c.max_position_embeddings + c.position_offset, c.d_model}, normal(0.02f));
    if (c.normalize_embedding)
        layernorm_embedding.emplace(c.d_model, p / "layernorm_embedding", c.layer_norm_eps);
}

Tensor TokenEmbedding::operator()(const Ids& tokens, const Segments& segments, const Positions& at,
                                  std::span<const std::int64_t> lengths) const {
    expect(static_cast<std::int64_t>(tokens.size()) == segments.total(),
           "embedding: ", tokens.size(), " tokens but segments for ", segments.total());
    const PositionCode code = config.positions;
    Positions where = at;
    where.offset += config.position_offset;
    Tensor x = gather_rows(embed_tokens, tokens);
    if (config.scale_embedding) x = std::sqrt(static_cast<float>(config.d_model)) * x;  // §3.4
    if (code == PositionCode::learned)
        x = x + learned_positions(embed_positions, segments, where);
    else if (is_added(code))
        x = x + position_code(segments, config.d_model, code, where, lengths);
    else
        x.set_row_names(segments);  // for dropout; the other codes bring the names along
    if (layernorm_embedding) x = (*layernorm_embedding)(x);
    return dropout(x, config.dropout);
}

Encoder::Encoder(const TransformerConfig& c, const Tensor& table, const Params& p)
    : embedding(c, table, p),
      kinds(for_layers(c.encoder_attention, c.encoder_layers, "encoder_self_attention")),
      reads_ahead(c.wait_k == 0) {
    for (int i = 0; i < c.encoder_layers; ++i) layers.emplace_back(c, p / "layers" / i);
    if (c.normalize_before) layer_norm.emplace(c.d_model, p / "layer_norm", c.layer_norm_eps);
}

Tensor Encoder::operator()(const Ids& tokens, const Segments& segments) const {
    Tensor x = embedding(tokens, segments);
    const std::vector<Sight> sights =
        for_each_kind(kinds, [&](const AttentionKind& kind, std::size_t) {
            return reads_ahead ? own_sight(kind, segments) : past_sight(kind, past(segments));
        });
    for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i](x, segments, sights[i]);
    return layer_norm ? (*layer_norm)(x) : x;
}

Decoder::Decoder(const TransformerConfig& c, const Tensor& table, const Params& p)
    : embedding(c, table, p),
      self_kinds(for_layers(c.decoder_attention, c.decoder_layers, "decoder_self_attention")),
      source_kinds(for_layers(c.cross_attention, c.decoder_layers, "cross_attention")),
      reading{c.wait_k} {
    for (int i = 0; i < c.decoder_layers; ++i) layers.emplace_back(c, p / "layers" / i);
    if (c.normalize_before) layer_norm.emplace(c.d_model, p / "layer_norm", c.layer_norm_eps);
}

std::vector<Sight> Decoder::past_sights(const Visibility& past) const {
    return for_each_kind(
        self_kinds, [&](const AttentionKind& kind, std::size_t) { return past_sight(kind, past); });
}

std::vector<SharedMeans> Decoder::means(const Segments& source) const {
    return for_each_kind(source_kinds, [&](const AttentionKind& kind, std::size_t) {
        return means_of(kind, source);
    });
}

std::vector<Sight> Decoder::source_sights(const AskingRows& at, const Segments& source,
                                          const std::vector<SharedMeans>& means) const {
    return for_each_kind(source_kinds, [&](const AttentionKind& kind, std::size_t layer) {
        return source_sight(kind, at, source, means[layer], reading);
    });
}

Tensor Decoder::operator()(const Ids& tokens, const Segments& segments, const Tensor& memory,
                           const Segments& source) const {
    expect(segments.count() == source.count(), "decoder: ", segments.count(), " targets but ",
           source.count(), " sources");
    // The unit code scales by the source's length: the target's own is not known when decoding.
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < source.count(); ++i) lengths.push_back(source.length(i));
    Tensor x = embedding(tokens, segments, {}, lengths);
    const std::vector<Sight> own = past_sights(past(segments)),
                             other =
                                 source_sights(AskingRows::all(segments), source, means(source));
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const DecoderLayer& layer = layers[i];
        x = layer(
            x, [&](const Tensor& y) { return layer.self_attn(y, segments, own[i]); },
            [&](const Tensor& y) { return layer.encoder_attn(y, memory, other[i]); });
    }
    return layer_norm ? (*layer_norm)(x) : x;
}

DecoderCache Decoder::start(const Tensor& memory, const Segments& source) const {
    DecoderCache cache;
    cache.self.resize(layers.size());
    cache.source = source;
    cache.means = means(source);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto kept = [&](const Tensor& rows) {
            return cache.means[i] ? cache.means[i]->appended(rows) : rows;
        };
        cache.source_k.push_back(kept(layers[i].encoder_attn.k_proj(memory)));
        cache.source_v.push_back(kept(layers[i].encoder_attn.v_proj(memory)));
    }
    return cache;
}

Tensor Decoder::step(const NextRows& next, DecoderCache& cache) const {
    std::vector<std::int64_t> lengths, steps;
    for (std::size_t i = 0; i < next.sources.size(); ++i) {
        lengths.push_back(cache.source.length(next.sources[i]));
        steps.push_back(next.at.offset + (next.at.first.empty() ? 0 : next.at.first[i]));
    }
    Tensor x = embedding(next.tokens, next.fresh, next.at, lengths);
    const std::vector<Sight> own = past_sights(next.past),
                             other = source_sights({next.fresh, next.sources, steps}, cache.source,
                                                   cache.means);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const DecoderLayer& layer = layers[i];
        x = layer(
            x,
            [&](const Tensor& y) {
                return layer.self_attn(y, cache.self[i], next.fresh, next.at, own[i]);
            },
            [&](const Tensor& y) {
                return layer.encoder_attn.attend(y, cache.source_k[i], cache.source_v[i], other[i]);
            });
    }
    return layer_norm ? (*layer_norm)(x) : x;
}

namespace {

// Embeddings are drawn with deviation d^-½, so that after the factor √d they are as large as the
// positions, and the tied logits begin with a variance near one: initial loss near ln V.
Init embedding_init(const TransformerConfig& c) {
    return normal(1.0f / std::sqrt(static_cast<float>(c.d_model)));
}

Tensor table_of_decoder(const TransformerConfig& c, const Tensor& shared, const Params& p) {
    if (!c.share_encoder_decoder_embeddings)
        return p.get("model.decoder.embed_tokens.weight", {c.target_vocab(), c.d_model},
                     embedding_init(c));
    for (const char* alias :
         {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"})
        p.tie(alias, "model.shared.weight");
    return shared;
}

}  // namespace

Transformer::Transformer(const TransformerConfig& c, const Params& p)
    : config(c),
      shared(p.get(c.share_encoder_decoder_embeddings ? "model.shared.weight"
                                                      : "model.encoder.embed_tokens.weight",
                   {c.vocab_size, c.d_model}, embedding_init(c))),
      decoder_table(table_of_decoder(c, shared, p)),
      encoder(c, shared, p / "model" / "encoder"),
      decoder(c, decoder_table, p / "model" / "decoder"),
      lm_head(c.tie_word_embeddings
                  ? decoder_table
                  : p.get("lm_head.weight", {c.target_vocab(), c.d_model}, embedding_init(c))) {
    if (c.final_logits_bias)
        logits_bias = p.constant("final_logits_bias", {1, c.target_vocab()}, zeros())
                          .reshaped({c.target_vocab()});
    if (c.tie_word_embeddings)
        p.tie("lm_head.weight", c.share_encoder_decoder_embeddings
                                    ? "model.shared.weight"
                                    : "model.decoder.embed_tokens.weight");
    // Marian files may hold their constant position tables.
    p.store().ignore("model.encoder.embed_positions.weight");
    p.store().ignore("model.decoder.embed_positions.weight");
}

Tensor Transformer::logits(const Tensor& hidden) const {
    return linear(hidden, lm_head, logits_bias);
}

Tensor Transformer::loss(const Ids& source, const Segments& source_segments, const Ids& input,
                         const Ids& labels, const Segments& target_segments,
                         const Loss& options) const {
    const Tensor memory = encode(source, source_segments);
    const Tensor hidden = decoder(input, target_segments, memory, source_segments);
    return linear_cross_entropy(hidden, lm_head, logits_bias, labels,
                                {.smoothing = options.smoothing});
}

}  // namespace fovea
