#include "fovea/nn/self_attention.h"

#include <algorithm>

#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

// The clipped vectors as RelativeDot wants them: a row for every difference that some query has to
// a key it sees. Its u and v (Transformer-XL's biases) are zero.
RelativeDot clipped(const Tensor& table, int clip, const Visibility& sees) {
    std::int64_t lowest = 0, highest = 0;
    const VisibilityView view = sees.view();
    for (const VisibleGroup& g : view.groups)
        for (std::int64_t i = g.q_begin; i < g.q_end; ++i) {
            const auto row = view.of_row(i);
            if (row.empty()) continue;
            const std::int64_t at = g.position + i - g.q_begin;
            lowest = std::min(lowest, at - row.back().end + 1);
            highest = std::max(highest, at - row.front().begin);
        }
    Ids rows;
    for (std::int64_t d = lowest; d <= highest; ++d)
        rows.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(d, -clip, clip) + clip));
    const Tensor none = Tensor::zeros({table.cols()});
    return {.u = none, .v = none, .r = gather_rows(table, rows), .first = lowest};
}

}  // namespace

SelfAttention::SelfAttention(int width, int n_heads, const Options& o, const Params& p)
    : MultiHeadAttention(width, n_heads, p, o.dropout), code(o.positions), clip(o.clip) {
    if (code != PositionCode::relative) return;
    expect(clip > 0, "attention: the farthest relative position is ", clip);
    // As large as the keys they join: projections of normed rows, of deviation about 1.
    relative_keys = p.exact("relative_keys", {2 * clip + 1, width}, xavier());
}

Tensor SelfAttention::operator()(const Tensor& x, const Segments& segments,
                                 const Sight& sees) const {
    return mix(rotated(q_proj(x), segments, {}), sees.with_means(rotated(k_proj(x), segments, {})),
               sees.with_means(v_proj(x)), sees);
}

Tensor SelfAttention::operator()(const Tensor& x, KvCache& cache, const Segments& segments,
                                 const Positions& at, const Sight& sees) const {
    cache.append(rotated(k_proj(x), segments, at), v_proj(x));
    return mix(rotated(q_proj(x), segments, at), cache.keys(), cache.values(), sees);
}

Tensor SelfAttention::rotated(const Tensor& x, const Segments& segments,
                              const Positions& at) const {
    return code == PositionCode::rotary ? rotary(x, heads, segments, at) : x;
}

Tensor SelfAttention::mix(const Tensor& q, const Tensor& k, const Tensor& v,
                          const Sight& sees) const {
    AttentionOptions options{.dropout = p_drop, .name = name};
    if (code == PositionCode::relative) options.score = clipped(relative_keys, clip, sees.sees);
    return out_proj(sees.attend(q, k, v, heads, options));
}

}  // namespace fovea
