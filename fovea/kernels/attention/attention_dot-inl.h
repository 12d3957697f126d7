// What scores made of dot products share: the queries of a tile, plus a bias, against rows x_j.
#if defined(FOVEA_KERNELS_ATTENTION_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_DOT_INL_H_
#undef FOVEA_KERNELS_ATTENTION_DOT_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_DOT_INL_H_
#endif

#include "fovea/kernels/attention/attention-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class N>
class DotQueries {
public:
    static constexpr int W = N::kQueries;
    using Value = typename N::Value;
    struct Uses {
        AttentionScratch::Use columns, rows, gradient;
    };
    static constexpr Uses kFirst{AttentionScratch::queries, AttentionScratch::query_rows,
                                 AttentionScratch::dqueries};
    static constexpr Uses kSecond{AttentionScratch::queries2, AttentionScratch::query_rows2,
                                  AttentionScratch::dqueries2};

    // plus [dk] of this head, or null.
    DotQueries(const AttentionCall& call, int head, const float* plus, AttentionScratch& scratch,
               const Uses& uses)
        : call_(call),
          scratch_(scratch),
          plus_(plus),
          dk_(call.dk()),
          head_(head),
          queries_(scratch.take<Value>(uses.columns, N::query_values(dk_))),
          rows_(scratch.take<Value>(uses.rows, N::query_row_values(dk_))),
          gradient_(scratch.floats(uses.gradient, GradientWidth(dk_) * W)) {}

    void load(const QueryTile<N>& q) { N::pack_queries(rows_of(q), plus_, q.vectors, queries_); }

    // s[j][q] = (q + plus)·x_j
    void dots(typename N::Rows x, int begin, int end, const QueryTile<N>& q, float* s) const {
        N::dots(x, begin, end, dk_, queries_, q.vectors, s);
    }

    void start(const QueryTile<N>& q) {
        N::pack_query_rows(rows_of(q), plus_, rows_);
        found_ = Found::nothing;
    }

    // In the forward pass this was s = (q + plus)·x: adds to the queries' gradient, and to dx,
    // whose row 0 belongs to x_0 (null: not wanted). ds has the scale in it.
    template <bool Careful>
    void backward(typename N::Rows x, int begin, int end, const QueryTile<N>& q, const float* ds,
                  float* dx) {
        const auto w = N::weigh(ds, begin, end, q.vectors, Needs::dots_and_mix, scratch_);
        N::template mix<Careful>(x, begin, end, dk_, w, found_, nullptr, q.vectors, gradient_);
        found_ = Found::sum;
        if (dx) N::template outer<Careful>(w, begin, end, q.count, rows_, dk_, dx);
    }

    // dq = Σ of the gradients of one or two sides; -0 becomes +0.
    void finish(const QueryTile<N>& q, const GradientView& dq, const float* other) {
        settle();
        if (!dq) return;
        const FloatTag d;
        for (std::int64_t e = 0; e < dk_; ++e)
            for (int n = 0; n < q.vectors; ++n) {
                float* at = gradient_ + e * W + n * kLanes;
                const FloatVec more = other ? hn::Load(d, other + e * W + n * kLanes) : hn::Zero(d);
                hn::Store(hn::Add(hn::Load(d, at), more), d, at);
            }
        UnpackColumns(gradient_, W,
                      dq.view.block(q.first, q.first + q.count, head_ * dk_, (head_ + 1) * dk_),
                      dq.add);
    }

    // Σ over the tile's rows of their gradient, added to sum [dk].
    void add_row_sums(const QueryTile<N>& q, float* sum) {
        settle();
        for (std::int64_t e = 0; e < dk_; ++e)
            for (int r = 0; r < q.count; ++r) sum[e] += gradient_[e * W + r];
    }

    // Adds another side's gradient of the queries, [dk][W].
    void add(const QueryTile<N>& q, const float* other) {
        settle();
        const FloatTag d;
        for (std::int64_t e = 0; e < dk_; ++e)
            for (int n = 0; n < q.vectors; ++n) {
                float* at = gradient_ + e * W + n * kLanes;
                hn::Store(hn::Add(hn::Load(d, at), hn::Load(d, other + e * W + n * kLanes)), d, at);
            }
    }

    // The gradient of the queries so far, [dk][W].
    const float* gradient() {
        settle();
        return gradient_;
    }

private:
    void settle() {  // no key was seen
        if (found_ == Found::nothing) std::fill_n(gradient_, dk_ * W, 0.0f);
        found_ = Found::sum;
    }

    ConstView rows_of(const QueryTile<N>& q) const {
        return call_.q.block(q.first, q.first + q.count, head_ * dk_, (head_ + 1) * dk_);
    }

    const AttentionCall& call_;
    AttentionScratch& scratch_;
    const float* plus_;
    std::int64_t dk_;
    int head_;
    Found found_ = Found::nothing;
    Value *queries_, *rows_;
    float* gradient_;
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
