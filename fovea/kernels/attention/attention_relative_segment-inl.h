// RelativeSegmentDot: scale ((q + u)·k + (q + v)·r_{i-j} + (q + s)·e_t), t = 0 where query and key
// are of one segment, 1 where they are not (Yang et al. 2019, §2.5).
//
// The third product has two values for each query: they are computed once a query tile, and each
// pair picks one. Backward sums the gradient of each, and goes through the product once a tile.
#if defined(FOVEA_KERNELS_ATTENTION_RELATIVE_SEGMENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_RELATIVE_SEGMENT_INL_H_
#undef FOVEA_KERNELS_ATTENTION_RELATIVE_SEGMENT_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_RELATIVE_SEGMENT_INL_H_
#endif

#include <algorithm>
#include <type_traits>

#include "fovea/kernels/attention/attention_relative-inl.h"
#include "fovea/kernels/attention/attention_relative_segment.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class N>
class RelativeSegmentDotTiles {
public:
    static constexpr bool kScaled = true, kFactor = false;
    static constexpr int W = N::kQueries;

    RelativeSegmentDotTiles(const AttentionCall& call, const RelativeSegmentDot& score, int head,
                            AttentionScratch& scratch, const ScoreTargets& to)
        : score_(score),
          dk_(call.dk()),
          relative_(call, score.relative, head, scratch, to),
          segment_(call, head, score.s.data + head * dk_, scratch, kQueriesUse),
          dparameters_(to.dparameters),
          e_(2, dk_, to.dparameters || to.dq ? Needs::dots_and_mix : Needs::dots, false,
             kEncodingStore, scratch),
          terms_(scratch.floats(AttentionScratch::own(6), kRows * W)),
          dterms_(scratch.floats(AttentionScratch::own(7), kRows * W)) {
        for (int t = 0; t < 2; ++t) e_.put(t, score.e.row(t) + head * dk_);
        e_.finish(2);
        if (dparameters_)
            de_ = scratch.floats(AttentionScratch::own(8), kRows * GradientWidth(dk_));
    }

    void load(const QueryTile<N>& q) {
        relative_.load(q);
        segment_.load(q);
        for (int r = 0; r < W; ++r) of_query_[r] = score_.q[q.first + std::min(r, q.count - 1)];
        segment_.dots(e_.rows(0), 0, 2, q, terms_);
    }

    void tile(const QueryTile<N>& q, const KeyTile<N>& k, float* s) {
        relative_.tile(q, k, s);
        const FloatTag d;
        for (int n = 0; n < q.vectors; ++n) {
            const FloatVec one = hn::Load(d, terms_ + n * kLanes);
            const FloatVec two = hn::Load(d, terms_ + W + n * kLanes);
            for (int j = k.begin; j < k.end; ++j) {
                float* to = s + j * W + n * kLanes;
                const FloatVec term = hn::IfThenElse(of_one_segment(k, j, n), one, two);
                hn::Store(hn::Add(hn::Load(d, to), term), d, to);
            }
        }
    }

    void start(const QueryTile<N>& q) {
        relative_.start(q);
        segment_.start(q);
        std::fill_n(dterms_, 2 * W, 0.0f);
    }

    template <bool Careful>
    void tile_backward(const QueryTile<N>& q, const KeyTile<N>& k, const float* ds, float* dk) {
        relative_.template tile_backward<Careful>(q, k, ds, dk);
        const FloatTag d;
        for (int n = 0; n < q.vectors; ++n) {
            FloatVec one = hn::Load(d, dterms_ + n * kLanes);
            FloatVec two = hn::Load(d, dterms_ + W + n * kLanes);
            for (int j = k.begin; j < k.end; ++j) {
                const FloatVec g = hn::Load(d, ds + j * W + n * kLanes);
                const auto same = of_one_segment(k, j, n);
                one = hn::Add(one, hn::IfThenElseZero(same, g));
                two = hn::Add(two, hn::IfThenZeroElse(same, g));
            }
            hn::Store(one, d, dterms_ + n * kLanes);
            hn::Store(two, d, dterms_ + W + n * kLanes);
        }
    }

    void finish(const QueryTile<N>& q) {
        const std::int64_t width = GradientWidth(dk_);
        if (de_) std::fill_n(de_, kRows * width, 0.0f);
        // A term that no pair picked has a gradient of 0 and is skipped, where the numbers can.
        constexpr bool careful = std::is_same_v<N, typename N::Careful>;
        segment_.template backward<careful>(e_.rows(0), 0, 2, q, dterms_, de_);
        if (dparameters_) {
            float* to = dparameters_ + score_.relative.parameters(dk_);
            segment_.add_row_sums(q, to);
            for (int t = 0; t < 2; ++t)
                for (std::int64_t c = 0; c < dk_; ++c) to[(1 + t) * dk_ + c] += de_[t * width + c];
        }
        relative_.finish(q, segment_.gradient());
    }

private:
    static constexpr int kRows = 32;  // two, padded to what the tiles of AMX write
    static constexpr typename DotQueries<N>::Uses kQueriesUse{
        AttentionScratch::own(0), AttentionScratch::own(1), AttentionScratch::own(2)};
    static constexpr StoreUses kEncodingStore{AttentionScratch::own(3), AttentionScratch::own(4),
                                              AttentionScratch::own(5)};

    HWY_INLINE auto of_one_segment(const KeyTile<N>& k, int j, int n) const {
        const IntTag di;
        return hn::RebindMask(FloatTag(), hn::Eq(hn::Load(di, of_query_ + n * kLanes),
                                                 hn::Set(di, score_.k[k.row[j]])));
    }

    const RelativeSegmentDot& score_;
    std::int64_t dk_;
    RelativeDotTiles<N> relative_;
    DotQueries<N> segment_;
    float* dparameters_;
    typename N::Store e_;
    float *terms_, *dterms_, *de_ = nullptr;
    alignas(64) std::int32_t of_query_[W];
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
