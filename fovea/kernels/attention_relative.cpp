// RelativeDot: s = scale ((q + u)·k + (q + v)·r_{i-j}) (Dai et al. 2019, §3.3; Yang et al. 2019).
//
// The second product is computed for a whole band of distances, b[t][q] = scale (q + v)·r_t, and
// each pair picks its entry. The band of a query tile grows as its key tiles ask for more of it: in
// order that is n + 48 products a tile instead of n; with permuted positions (XLNet) the first key
// tile asks for nearly all and the others find it there. The backward pass gathers db the same way.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_relative.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention_dot-inl.h"
#include "fovea/kernels/attention_positions-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class N>
class RelativeDotTiles {
public:
    static constexpr bool kScaled = true, kFactor = false;
    static constexpr int W = N::kQueries;

    RelativeDotTiles(const AttentionCall& call, const RelativeDot& score, int head,
                     const VisibleGroup&, AttentionScratch& scratch, const GradientView& dq = {},
                     float* dparameters = nullptr)
        : dk_(call.dk()),
          size_(score.r.rows),
          content_(call, head, score.u.data + head * dk_, scratch, DotQueries<N>::kFirst),
          position_(call, head, score.v.data + head * dk_, scratch, DotQueries<N>::kSecond),
          positions_(score.positions, score.first, size_),
          dq_(dq),
          dparameters_(dparameters),
          band_(scratch.floats(AttentionScratch::distances, size_ * W)),
          dband_(scratch.floats(AttentionScratch::ddistances, size_ * W)) {
        float* table = scratch.floats(AttentionScratch::table, size_ * dk_);
        scratch.pointers.resize(static_cast<std::size_t>(size_));
        for (std::int64_t t = 0; t < size_; ++t) {
            PackRow(score.r.row(t) + head * dk_, dk_, dk_, table + t * dk_);
            scratch.pointers[static_cast<std::size_t>(t)] = table + t * dk_;
        }
        r_ = scratch.pointers.data();
        if (dparameters) dr_ = scratch.floats(AttentionScratch::dtable, size_ * position_.width());
    }

    void load(const QueryTile<N>& q) {
        content_.load(q);
        position_.load(q);
        positions_.load(q);
        known_ = {0, 0};
    }

    void tile(const QueryTile<N>& q, const KeyTile<N>& k, float* s) {
        content_.dots(k.k, k.begin, k.end, q, s);
        const Range want = positions_.range(q, k);
        if (want.begin > known_.end || want.end < known_.begin || known_.begin == known_.end)
            known_ = {want.begin, want.begin};
        if (want.begin < known_.begin) {
            position_.dots(r_, want.begin, known_.begin, q, band_);
            known_.begin = want.begin;
        }
        if (want.end > known_.end) {
            position_.dots(r_, known_.end, want.end, q, band_);
            known_.end = want.end;
        }
        const FloatTag d;
        const IntTag di;
        for (int j = k.begin; j < k.end; ++j) {
            const std::int32_t key = positions_.key(k, j);
            for (int n = 0; n < q.vectors; ++n) {
                const IntVec lanes = hn::Iota(di, n * kLanes);
                const IntVec at =
                    hn::Add(hn::Mul(positions_.entries(key, n * kLanes), hn::Set(di, W)), lanes);
                float* to = s + j * W + n * kLanes;
                hn::Store(hn::Add(hn::Load(d, to), hn::GatherIndex(d, band_, at)), d, to);
            }
        }
    }

    void start(const QueryTile<N>& q) {
        content_.start(q);
        position_.start(q);
        dknown_ = {0, 0};
    }

    template <bool Careful>
    void tile_backward(const QueryTile<N>& q, const KeyTile<N>& k, const float* ds, float* dk) {
        content_.template backward<Careful>(k.k, k.begin, k.end, q, ds, dk);
        const Range want = positions_.range(q, k);
        if (want.begin > dknown_.end || want.end < dknown_.begin) flush(q);
        if (dknown_.begin == dknown_.end) dknown_ = {want.begin, want.begin};
        if (want.begin < dknown_.begin) {
            std::fill_n(dband_ + want.begin * W, (dknown_.begin - want.begin) * W, 0.0f);
            dknown_.begin = want.begin;
        }
        if (want.end > dknown_.end) {
            std::fill_n(dband_ + dknown_.end * W, (want.end - dknown_.end) * W, 0.0f);
            dknown_.end = want.end;
        }
        for (int j = k.begin; j < k.end; ++j)
            for (int r = 0; r < q.count; ++r)
                dband_[positions_.clamped(k, j, r) * W + r] += ds[j * W + r];
    }

    void finish(const QueryTile<N>& q) {
        flush(q);
        if (dparameters_) {
            content_.add_row_sums(q, dparameters_);
            position_.add_row_sums(q, dparameters_ + dk_);
        }
        content_.finish(q, dq_, position_.gradient());
    }

private:
    using Range = typename TablePositions<N>::Range;

    // In the forward pass this was b = scale (q + v)·r.
    void flush(const QueryTile<N>& q) {
        const int n = dknown_.end - dknown_.begin;
        if (n == 0) return;
        const std::int64_t width = position_.width();
        if (dr_) std::fill_n(dr_, n * width, 0.0f);
        position_.template backward<true>(r_, dknown_.begin, dknown_.end, q, dband_, dr_);
        if (dr_)
            for (int t = 0; t < n; ++t)
                for (std::int64_t e = 0; e < dk_; ++e)
                    dparameters_[(2 + dknown_.begin + t) * dk_ + e] += dr_[t * width + e];
        dknown_ = {0, 0};
    }

    std::int64_t dk_, size_;
    DotQueries<N> content_, position_;
    TablePositions<N> positions_;
    GradientView dq_;
    float* dparameters_;
    const float* const* r_ = nullptr;
    float *band_, *dband_, *dr_ = nullptr;
    Range known_{0, 0}, dknown_{0, 0};
};

void RelativeForward(const AttentionCall& call, const RelativeDot& score, const ForwardTask& task,
                     const ForwardResult& result) {
    ForwardPiece<F32, RelativeDotTiles<F32>>(call, score, task, result);
}
void RelativeBackward(const AttentionCall& call, const RelativeDot& score, const BackwardTask& task,
                      const BackwardInput& in) {
    BackwardPiece<F32, RelativeDotTiles<F32>>(call, score, task, in);
}
void RelativeScores(const AttentionCall& call, const RelativeDot& score, const ForwardTask& task,
                    const ScoresPlace& place) {
    ScoresPiece<F32, RelativeDotTiles<F32>>(call, score, task, place);
}
void RelativeScoresBackward(const AttentionCall& call, const RelativeDot& score,
                            const BackwardTask& task, const ScoresPlace& place) {
    ScoresBackwardPiece<F32, RelativeDotTiles<F32>>(call, score, task, place);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(RelativeForward);
HWY_EXPORT(RelativeBackward);
HWY_EXPORT(RelativeScores);
HWY_EXPORT(RelativeScoresBackward);

AttentionPieces<RelativeDot> pieces_of(const RelativeDot&, Precision) {
    return {.forward = FOVEA_DISPATCH(RelativeForward),
            .backward = FOVEA_DISPATCH(RelativeBackward),
            .scores = FOVEA_DISPATCH(RelativeScores),
            .scores_backward = FOVEA_DISPATCH(RelativeScoresBackward)};
}

template void attention_forward(const AttentionCall&, const RelativeDot&, View, View);
template void attention_backward(const AttentionCall&, const RelativeDot&, ConstView, ConstView,
                                 ConstView, const AttentionGradients&);
template void attention_scores(const AttentionCall&, const RelativeDot&, const std::int64_t*,
                               float*);
template void attention_scores_backward(const AttentionCall&, const RelativeDot&,
                                        const std::int64_t*, const float*,
                                        const AttentionGradients&);

}  // namespace fovea::kernels
#endif
