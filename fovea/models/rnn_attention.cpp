#include "fovea/models/rnn_attention.h"

#include <algorithm>
#include <cmath>

#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"

namespace fovea {
namespace {

std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

// interval(row of q, its step, length of its source) -> what it sees of that source.
template <class Interval>
Visibility seen_by(const AskingRows& at, const Segments& source, Interval&& interval) {
    VisibilityBuilder builder(source.total());
    for (std::int64_t i = 0; i < at.rows.count(); ++i) {
        const std::int64_t s = at.sources[place(i)];
        builder.group({.keys = {{source.begin(s), source.length(s)}}});
        for (std::int64_t r = at.rows.begin(i); r < at.rows.end(i); ++r)
            builder.row({interval(r, at.first[place(i)] + r - at.rows.begin(i), source.length(s))});
    }
    return builder.build();
}

// a x, for a learned number a [1, 1]: a product with a matrix of ones is exact.
Tensor times(const Tensor& a, const Tensor& x) {
    const Tensor row = matmul(a, Tensor::full({1, x.cols()}, 1.0f));
    return mul(matmul(Tensor::full({x.rows(), 1}, 1.0f), row), x);
}

}  // namespace

RnnAttention::RnnAttention(const RnnAttentionChoice& choice, int width, int heads, const Params& p)
    : choice_(choice), width_(width), heads_(heads), name_(p.path()) {
    const SourceScore score = choice.score;
    if (score == SourceScore::general || score == SourceScore::additive)
        q_proj_.emplace(width, width, p / "q_proj");
    if (score == SourceScore::additive || score == SourceScore::two_term)
        k_proj_.emplace(width, width, p / "k_proj");
    if (score == SourceScore::two_term) {
        v_proj_.emplace(width, width, p / "v_proj");
        a_ = p.exact("a", {1, 1}, ones());  // begins as the scaled dot product
        b_ = p.exact("b", {1, 1}, zeros());
    }
    if (score == SourceScore::additive)
        score_vector_ =
            p.exact("score_vector", {width}, uniform(1.0f / std::sqrt(static_cast<float>(width))));
    if (choice.view == SourceView::local_p) {
        centre_.emplace(width, width, p / "centre");
        centre_vector_ = p.exact("centre_vector", {heads, width}, xavier());
    }
    if (choice.view == SourceView::hybrid && !choice.global_weight)
        gate_.emplace(width, heads, p / "gate");
    columns_of_heads_ = Tensor::zeros({width, heads});
    for (int c = 0; c < width; ++c)
        columns_of_heads_.write()[c * heads + c / (width / heads)] = 1.0f;
}

// two-term: q·(a k + b v) / √d, which is q·k' with k' = a k + b v.
Tensor RnnAttention::key_of(const Tensor& memory) const {
    const Tensor k = k_proj_ ? (*k_proj_)(memory) : memory;
    if (choice_.score != SourceScore::two_term) return k;
    return times(a_, k) + times(b_, (*v_proj_)(memory));
}

PreparedSource RnnAttention::prepare(const Tensor& memory, const Segments& segments) const {
    PreparedSource source{key_of(memory), v_proj_ ? (*v_proj_)(memory) : memory, segments, {}};
    if (choice_.view != SourceView::expanded) return source;
    source.expanded.emplace(segments, choice_.window, choice_.summaries);
    source.k = source.expanded->appended(source.k);
    source.v = source.expanded->appended(source.v);
    return source;
}

AttentionOptions RnnAttention::options(const std::string& part) const {
    AttentionOptions o;
    o.name = name_ + part;
    if (choice_.score == SourceScore::additive)
        o.score = Additive{score_vector_};
    else if (choice_.score == SourceScore::dot || choice_.score == SourceScore::general)
        o.scale = 1.0f;
    return o;
}

// [rows, heads] -> [rows, width]: each head's number in all of its columns.
Tensor RnnAttention::of_head(const Tensor& per_head) const {
    return linear(per_head, columns_of_heads_);
}

// Luong et al. 2015, eqs. 9 and 10:  p = n σ(v_pᵀ tanh(W_p q)), and weights times
// exp(−(j − p)² / 2σ²), σ = w / 2, within p ± w.
Tensor RnnAttention::around_centre(const Tensor& q, const Tensor& query, const AskingRows& at,
                                   const PreparedSource& source) const {
    Tensor lengths({q.rows(), heads_});
    for (std::int64_t i = 0; i < at.rows.count(); ++i)
        std::fill(lengths.write() + at.rows.begin(i) * heads_,
                  lengths.write() + at.rows.end(i) * heads_,
                  static_cast<float>(source.segments.length(at.sources[place(i)])));
    const Tensor centres = mul(lengths, sigmoid(linear((*centre_)(q, Act::tanh), centre_vector_)));
    AttentionOptions o = options();
    o.score = Gaussian{centres, static_cast<float>(choice_.window) / 2};
    const double w = choice_.window;
    for (int h = 0; h < heads_; ++h)
        o.per_head.push_back(
            seen_by(at, source.segments, [&](std::int64_t row, std::int64_t, std::int64_t n) {
                const double p = centres.at(row, h);
                const auto first = static_cast<std::int64_t>(std::ceil(std::max(0.0, p - w)));
                const auto last = static_cast<std::int64_t>(std::floor(p + w));
                return KeyInterval{std::min(first, n), std::clamp(last + 1, std::min(first, n), n)};
            }));
    return attention(query, source.k, source.v, heads_, o.per_head[0], o);
}

//   g ∘ global + (1 − g) ∘ window, g = σ(W_g q + b) for each head, or fixed
Tensor RnnAttention::joined(const Tensor& q, const Tensor& query, const AskingRows& at,
                            const PreparedSource& source) const {
    const Tensor all = attention(query, source.k, source.v, heads_, all_of(at, source.segments),
                                 options(".global"));
    const Tensor near =
        attention(query, source.k, source.v, heads_, window_of(at, source.segments, choice_.window),
                  options(".local"));
    if (choice_.global_weight)
        return *choice_.global_weight * all + (1.0f - *choice_.global_weight) * near;
    return near + mul(of_head(sigmoid((*gate_)(q))), all - near);
}

Tensor RnnAttention::operator()(const Tensor& q, const AskingRows& at,
                                const PreparedSource& source) const {
    const Tensor query = q_proj_ ? (*q_proj_)(q) : q;
    switch (choice_.view) {
        case SourceView::none:
            break;
        case SourceView::global:
            return attention(query, source.k, source.v, heads_, all_of(at, source.segments),
                             options());
        case SourceView::hard:
            return attention_hard(query, source.k, source.v, heads_, all_of(at, source.segments),
                                  options());
        case SourceView::window:
            return attention(query, source.k, source.v, heads_,
                             window_of(at, source.segments, choice_.window), options());
        case SourceView::local_p:
            return around_centre(q, query, at, source);
        case SourceView::expanded:
            return attention(query, source.k, source.v, heads_,
                             expanded_of(at, source.segments, *source.expanded), options());
        case SourceView::hybrid:
            return joined(q, query, at, source);
    }
    throw Error("attention: a decoder without attention asks for a context");
}

}  // namespace fovea
