#include "fovea/models/gpt2.h"

#include <cmath>

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

// §2.3: what writes into the residual stream begins smaller by √(2 · layers), the number of
// writers.
Init gpt2_residual_init(const Gpt2Config& c) {
    return normal(c.initializer_range / std::sqrt(2.0f * static_cast<float>(c.n_layer)));
}

}  // namespace

Gpt2Attention::Gpt2Attention(const Gpt2Config& c, int layer, const Params& p)
    : q(c.n_embd, c.n_embd, p / "q", normal(c.initializer_range)),
      k(c.n_embd, c.n_embd, p / "k", normal(c.initializer_range)),
      v(c.n_embd, c.n_embd, p / "v", normal(c.initializer_range)),
      c_proj(c.n_embd, c.n_embd, p / "c_proj", gpt2_residual_init(c)),
      name(p.path()),
      heads(c.n_head),
      scale(c.score_scale(layer)),
      p_drop(c.attn_pdrop) {}

Tensor Gpt2Attention::mix(const Tensor& x, const Tensor& keys, const Tensor& values,
                          const Sight& sees) const {
    return c_proj(
        sees.attend(q(x), keys, values, heads, {.scale = scale, .dropout = p_drop, .name = name}));
}

Tensor Gpt2Attention::operator()(const Tensor& x, const Sight& sees) const {
    return mix(x, k(x), v(x), sees);
}

Tensor Gpt2Attention::operator()(const Tensor& x, KvCache& cache, const Sight& sees) const {
    cache.append(k(x), v(x));
    return mix(x, cache.keys(), cache.values(), sees);
}

Gpt2Mlp::Gpt2Mlp(const Gpt2Config& c, const Params& p)
    : c_fc(c.n_embd, c.inner(), p / "c_fc", normal(c.initializer_range)),
      c_proj(c.inner(), c.n_embd, p / "c_proj", gpt2_residual_init(c)),
      act(c.activation_function) {}

Gpt2Block::Gpt2Block(const Gpt2Config& c, int layer, const Params& p)
    : ln_1(c.n_embd, p / "ln_1", c.layer_norm_epsilon),
      attn(c, layer, p / "attn"),
      ln_2(c.n_embd, p / "ln_2", c.layer_norm_epsilon),
      mlp(c, p / "mlp"),
      p_drop(c.resid_pdrop) {}

Tensor Gpt2Block::operator()(const Tensor& x, const Sight& sees, KvCache* cache) const {
    const Tensor y = ln_1(x);
    const Tensor a = add_dropout(x, cache ? attn(y, *cache, sees) : attn(y, sees), p_drop);
    return add_dropout(a, mlp(ln_2(a)), p_drop);
}

Gpt2::Gpt2(const Gpt2Config& c, const Params& p)
    : config(c),
      wte(p.get("transformer.wte.weight", {c.vocab_size, c.n_embd}, normal(c.initializer_range))),
      wpe(p.exact("transformer.wpe.weight", {c.n_positions, c.n_embd},
                  normal(c.initializer_range))),
      h([&] {
          std::vector<Gpt2Block> blocks;
          for (int i = 0; i < c.n_layer; ++i)
              blocks.emplace_back(c, i, p / "transformer" / "h" / i);
          return blocks;
      }()),
      kinds(for_layers(c.attention, c.n_layer, "attention")),
      ln_f(c.n_embd, p / "transformer" / "ln_f", c.layer_norm_epsilon) {}

Tensor Gpt2::embed(const Ids& tokens, const Segments& segments, const Positions& at) const {
    expect(static_cast<std::int64_t>(tokens.size()) == segments.total(), "gpt2: ", tokens.size(),
           " tokens but segments for ", segments.total());
    return dropout(gather_rows(wte, tokens) + learned_positions(wpe, segments, at),
                   config.embd_pdrop);
}

std::vector<Sight> Gpt2::sights(const Visibility& past) const {
    return for_each_kind(
        kinds, [&](const AttentionKind& kind, std::size_t) { return past_sight(kind, past); });
}

Tensor Gpt2::operator()(const TokenBatch& batch) const {
    Tensor x = embed(batch.tokens, batch.segments, {});
    const std::vector<Sight> sees = sights(past(batch.segments));
    for (std::size_t i = 0; i < h.size(); ++i) x = h[i](x, sees[i]);
    return ln_f(x);
}

Tensor Gpt2::step(const NextTokens& next, std::span<KvCache> caches) const {
    expect(caches.size() == h.size(), "gpt2: ", caches.size(), " caches for ", h.size(), " layers");
    Tensor x = embed(next.tokens, next.fresh, next.at);
    const std::vector<Sight> sees = sights(next.sees);
    for (std::size_t i = 0; i < h.size(); ++i) x = h[i](x, sees[i], &caches[i]);
    return ln_f(x);
}

}  // namespace fovea
