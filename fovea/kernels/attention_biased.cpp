// BiasedDot: s = scale q·k + bias[i - j] (T5: Raffel et al. 2020, §2.1; ALiBi: Press et al. 2022).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_biased.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention_dot-inl.h"
#include "fovea/kernels/attention_positions-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class N>
class BiasedDotTiles {
public:
    static constexpr bool kScaled = false, kFactor = false;  // the bias wants the plain ds
    static constexpr int W = N::kQueries;

    BiasedDotTiles(const AttentionCall& call, const BiasedDot& score, int head, const VisibleGroup&,
                   AttentionScratch& scratch, const GradientView& dq = {},
                   float* dparameters = nullptr)
        : call_(call),
          size_(score.bias.cols),
          queries_(call, head, nullptr, scratch, DotQueries<N>::kFirst),
          positions_(score.positions, score.first, size_),
          dq_(dq),
          dparameters_(dparameters) {
        // Pairs nobody sees, in a tile where some pair is seen, stay within the margins.
        const std::int64_t all = size_ + 2 * kMargin;
        bias_ = scratch.floats(AttentionScratch::table, all);
        std::fill_n(bias_, all, 0.0f);
        std::copy_n(score.bias.row(head), size_, bias_ + kMargin);
        if (!dparameters) return;
        dbias_ = scratch.floats(AttentionScratch::dtable, all);
    }

    void load(const QueryTile<N>& q) {
        queries_.load(q);
        positions_.load(q);
    }

    void tile(const QueryTile<N>& q, const KeyTile<N>& k, float* s) {
        queries_.dots(k.k, k.begin, k.end, q, s);
        const FloatTag d;
        const bool consecutive = positions_.consecutive();
        for (int j = k.begin; j < k.end; ++j) {
            const std::int32_t key = positions_.key(k, j);
            const float* from = bias_ + kMargin + (consecutive ? positions_.entry(k, j, 0) : 0);
            for (int n = 0; n < q.vectors; ++n) {
                float* to = s + j * W + n * kLanes;
                const FloatVec b =
                    consecutive ? hn::LoadU(d, from + n * kLanes)
                                : hn::GatherIndex(d, from, positions_.entries(key, n * kLanes));
                hn::Store(hn::Add(hn::Load(d, to), b), d, to);
            }
        }
    }

    void start(const QueryTile<N>& q) {
        queries_.start(q);
        if (dbias_) std::fill_n(dbias_, size_ + 2 * kMargin, 0.0f);
    }

    template <bool Careful>
    void tile_backward(const QueryTile<N>& q, const KeyTile<N>& k, float* ds, float* dk) {
        if (dbias_) add_bias(q, k, ds);
        const FloatTag d;
        const FloatVec by = hn::Set(d, call_.scale);
        for (int j = k.begin; j < k.end; ++j)
            for (int n = 0; n < q.vectors; ++n) {
                float* at = ds + j * W + n * kLanes;
                hn::Store(hn::Mul(by, hn::Load(d, at)), d, at);
            }
        queries_.template backward<Careful>(k.k, k.begin, k.end, q, ds, dk);
    }

    void finish(const QueryTile<N>& q) {
        queries_.finish(q, dq_, nullptr);
        if (dbias_)
            for (std::int64_t t = 0; t < size_; ++t) dparameters_[t] += dbias_[kMargin + t];
    }

private:
    static constexpr std::int64_t kMargin = N::kKeys + W;

    void add_bias(const QueryTile<N>& q, const KeyTile<N>& k, const float* ds) {
        const FloatTag d;
        if (!positions_.consecutive()) {
            for (int j = k.begin; j < k.end; ++j)
                for (int r = 0; r < q.count; ++r)
                    dbias_[kMargin + positions_.clamped(k, j, r)] += ds[j * W + r];
            return;
        }
        // Neighbouring keys are an entry apart: taken a vector apart, their stores do not overlap
        // the next loads.
        for (int n = 0; n < q.vectors; ++n)
            for (int part = 0; part < kLanes; ++part)
                for (int j = k.begin + part; j < k.end; j += kLanes) {
                    float* to = dbias_ + kMargin + positions_.entry(k, j, 0) + n * kLanes;
                    hn::StoreU(hn::Add(hn::LoadU(d, to), hn::Load(d, ds + j * W + n * kLanes)), d,
                               to);
                }
    }

    const AttentionCall& call_;
    std::int64_t size_;
    DotQueries<N> queries_;
    TablePositions<N> positions_;
    GradientView dq_;
    float* dparameters_;
    float *bias_, *dbias_ = nullptr;
};

void BiasedForward(const AttentionCall& call, const BiasedDot& score, const ForwardTask& task,
                   const ForwardResult& result) {
    ForwardPiece<F32, BiasedDotTiles<F32>>(call, score, task, result);
}
void BiasedBackward(const AttentionCall& call, const BiasedDot& score, const BackwardTask& task,
                    const BackwardInput& in) {
    BackwardPiece<F32, BiasedDotTiles<F32>>(call, score, task, in);
}
void BiasedScores(const AttentionCall& call, const BiasedDot& score, const ForwardTask& task,
                  const ScoresPlace& place) {
    ScoresPiece<F32, BiasedDotTiles<F32>>(call, score, task, place);
}
void BiasedScoresBackward(const AttentionCall& call, const BiasedDot& score,
                          const BackwardTask& task, const ScoresPlace& place) {
    ScoresBackwardPiece<F32, BiasedDotTiles<F32>>(call, score, task, place);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(BiasedForward);
HWY_EXPORT(BiasedBackward);
HWY_EXPORT(BiasedScores);
HWY_EXPORT(BiasedScoresBackward);

AttentionPieces<BiasedDot> pieces_of(const BiasedDot&, Precision) {
    return {.forward = FOVEA_DISPATCH(BiasedForward),
            .backward = FOVEA_DISPATCH(BiasedBackward),
            .scores = FOVEA_DISPATCH(BiasedScores),
            .scores_backward = FOVEA_DISPATCH(BiasedScoresBackward)};
}

template void attention_forward(const AttentionCall&, const BiasedDot&, View, View);
template void attention_backward(const AttentionCall&, const BiasedDot&, ConstView, ConstView,
                                 ConstView, const AttentionGradients&);
template void attention_scores(const AttentionCall&, const BiasedDot&, const std::int64_t*, float*);
template void attention_scores_backward(const AttentionCall&, const BiasedDot&, const std::int64_t*,
                                        const float*, const AttentionGradients&);

}  // namespace fovea::kernels
#endif
