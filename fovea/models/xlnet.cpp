#include "fovea/models/xlnet.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/positions.h"
#include "fovea/ops/without_gradient.h"

namespace fovea {

XlnetAttention::XlnetAttention(const XlnetConfig& c, const Params& p)
    : heads(c.n_head),
      p_drop(c.dropout),
      name(p.path()),
      layer_norm(c.d_model, p / "layer_norm", c.layer_norm_eps) {
    const std::int64_t d = c.d_model, h = c.n_head, dk = d / h;
    const Init init = normal(c.initializer_range);
    const auto projection = [&](const char* of) { return p.get(of, {d, d}, init); };
    const auto row = [&](const char* of) { return p.exact(of, {h, dk}, init).reshaped({d}); };
    q = projection("q");
    k = projection("k");
    v = projection("v");
    r = projection("r");
    o = projection("o");
    r_w_bias = row("r_w_bias");
    r_r_bias = row("r_r_bias");
    r_s_bias = row("r_s_bias");
    seg_embed = p.exact("seg_embed", {2, h, dk}, init).reshaped({2, d});
}

XlnetAttention::Keys XlnetAttention::keys(const Tensor& rows, const XlnetPlaces& places) const {
    return {linear(rows, k), linear(rows, v), linear(places.distances, r)};
}

Tensor XlnetAttention::operator()(const Tensor& x, const Keys& keys, const XlnetStream& stream,
                                  const XlnetPlaces& places) const {
    const RelativeDot relative{.u = r_w_bias,
                               .v = r_r_bias,
                               .r = keys.r,
                               .first = places.first,
                               .positions = {.q = stream.positions, .k = places.positions}};
    AttentionOptions options{.dropout = p_drop, .score = relative, .name = name};
    if (!stream.types.empty())
        options.score = RelativeSegmentDot{.relative = relative,
                                           .s = r_s_bias,
                                           .e = seg_embed,
                                           .q = stream.types,
                                           .k = places.types};
    const Tensor mixed = attention(linear(x, q), keys.k, keys.v, heads, stream.sees, options);
    return residual_layer_norm(x, linear(mixed, o), layer_norm.weight, layer_norm.bias,
                               {.dropout = p_drop, .eps = layer_norm.eps});
}

XlnetFeedForward::XlnetFeedForward(const XlnetConfig& c, const Params& p)
    : layer_1(c.d_model, c.d_inner, p / "layer_1", normal(c.initializer_range)),
      layer_2(c.d_inner, c.d_model, p / "layer_2", normal(c.initializer_range)),
      layer_norm(c.d_model, p / "layer_norm", c.layer_norm_eps),
      act(c.ff_activation),
      p_drop(c.dropout) {}

Tensor XlnetFeedForward::operator()(const Tensor& x) const {
    const Tensor y = layer_2(dropout(layer_1(x, act), p_drop));
    return residual_layer_norm(x, y, layer_norm.weight, layer_norm.bias,
                               {.dropout = p_drop, .eps = layer_norm.eps});
}

Xlnet::Xlnet(const XlnetConfig& c, const Params& p)
    : config(c),
      word_embedding(
          p.get("word_embedding.weight", {c.vocab_size, c.d_model}, normal(c.initializer_range))),
      mask_emb(p.exact("mask_emb", {1, 1, c.d_model}, normal(c.initializer_range))
                   .reshaped({1, c.d_model})) {
    for (int i = 0; i < c.n_layer; ++i) layer.emplace_back(c, p / "layer" / i);
}

namespace {

// Sinusoids of the distances first … last; clamp > 0: those beyond ±clamp count as it. Each row is
// a sequence of its own, named by its distance: dropout then takes the same values of a distance
// away whatever the batch (the reference draws anew for each sequence, which would take a copy of
// the table for each).
Tensor distance_code(std::int64_t first, std::int64_t last, const XlnetConfig& c) {
    const std::int64_t farthest = std::max(-first, last), half = c.d_model / 2;
    const Tensor table =
        sinusoid(Segments::of_lengths({farthest + 1}), c.d_model, SinusoidForm::halves);
    Tensor out({last - first + 1, c.d_model});
    std::vector<std::uint64_t> names;
    for (std::int64_t distance = first; distance <= last; ++distance) {
        std::int64_t at = distance;
        if (c.clamp_len > 0) at = std::clamp<std::int64_t>(at, -c.clamp_len, c.clamp_len);
        const float* from = table.data() + std::abs(at) * c.d_model;
        float* to = out.write() + (distance - first) * c.d_model;
        std::copy_n(from, c.d_model, to);
        if (at < 0)  // sin(-x) = -sin(x)
            for (std::int64_t i = 0; i < half; ++i) to[i] = -to[i];
        names.push_back(static_cast<std::uint64_t>(distance));
    }
    const std::vector<std::int64_t> one_each(names.size(), 1);
    out.set_row_names(Segments::of_lengths(one_each, std::move(names)));
    return dropout(out, c.dropout);
}

}  // namespace

XlnetPlaces Xlnet::places(const Segments& rows, const Segments& memory) const {
    std::int64_t first = 0, last = 0;
    for (std::int64_t s = 0; s < rows.count(); ++s) {
        if (rows.length(s) == 0) continue;
        first = std::min(first, 1 - rows.length(s));
        last = std::max(last, rows.length(s) - 1 + (memory.count() > 0 ? memory.length(s) : 0));
    }
    XlnetPlaces out;
    out.first = first;
    out.distances = distance_code(first, last, config);
    return out;
}

void Xlnet::check(const TokenBatch& batch, const XlnetMemory& memory) const {
    const std::int64_t total = batch.segments.total();
    expect(static_cast<std::int64_t>(batch.tokens.size()) == total, "xlnet: ", batch.tokens.size(),
           " tokens but segments for ", total);
    expect(batch.types.empty() || batch.types.size() == batch.tokens.size(),
           "xlnet: ", batch.types.size(), " types for ", batch.tokens.size(), " tokens");
    if (memory.empty()) return;
    expect(memory.segments.count() == batch.segments.count(), "xlnet: memories of ",
           memory.segments.count(), " sequences for ", batch.segments.count());
    expect(memory.rows.size() == layer.size(), "xlnet: memory of ", memory.rows.size(),
           " layers, but the model has ", layer.size());
}

Tensor Xlnet::content(const TokenBatch& batch, const XlnetContext& context,
                      XlnetMemory* remembered) const {
    const XlnetMemory& memory = context.memory;
    check(batch, memory);
    XlnetPlaces to = places(batch.segments, memory.segments);
    const bool one_way = config.causal || context.left_to_right;
    XlnetStream stream{one_way ? past(batch.segments) : everything(batch.segments, batch.segments)};
    if (!memory.empty()) stream.sees = with_memory(memory.segments, stream.sees);
    if (!batch.types.empty()) {
        stream.types = batch.types;
        to.types.resize(static_cast<std::size_t>(memory.segments.total()));  // the memory is of A
        to.types.insert(to.types.end(), batch.types.begin(), batch.types.end());
    }
    Tensor h = gather_rows(word_embedding, batch.tokens);
    h.set_row_names(batch.segments);
    h = dropout(h, config.dropout);
    for (std::size_t i = 0; i < layer.size(); ++i) {
        if (remembered) {
            remembered->rows.push_back(h);
            if (i + 1 == layer.size()) return {};  // nobody reads what the last layer gives
        }
        const Tensor rows = memory.empty() ? h : concat_rows({memory.rows[i], h});
        h = layer[i](h, layer[i].rel_attn.keys(rows, to), stream, to);
    }
    return dropout(h, config.dropout);
}

Tensor Xlnet::operator()(const TokenBatch& batch, const XlnetContext& context) const {
    return content(batch, context, nullptr);
}

XlnetMemory Xlnet::remember(const TokenBatch& before, const XlnetContext& context) const {
    XlnetMemory memory{.rows = {}, .segments = before.segments};
    without_gradient([&] { content(before, context, &memory); });
    return memory;
}

XlnetLm::XlnetLm(const XlnetConfig& c, const Params& p)
    : transformer(c, p / "transformer"), bias(p.get("lm_loss.bias", {c.vocab_size}, zeros())) {
    p.tie("lm_loss.weight", (p / "transformer").full("word_embedding.weight"));
}

Tensor XlnetLm::loss(const TokenBatch& batch, const XlnetOrder& order,
                     const XlnetMemory& memory) const {
    return linear_cross_entropy(transformer.target_rows(batch, order, memory),
                                transformer.word_embedding, bias,
                                order.target_tokens(batch.tokens, batch.segments));
}

}  // namespace fovea
