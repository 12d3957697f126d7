// RelativeDot: s = scale ((q + u)·k + (q + v)·r_{i-j}) (Dai et al. 2019, §3.3; Yang et al. 2019).
//
// The second product is computed for a whole band of distances, b[t][q] = scale (q + v)·r_t, and
// each pair picks its entry. The band of a query tile grows as its key tiles ask for more of it: in
// order that is n + 48 products a tile instead of n; with permuted positions (XLNet) the first key
// tile asks for nearly all and the others find it there. The backward pass gathers db the same way.
#if defined(FOVEA_KERNELS_ATTENTION_RELATIVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_RELATIVE_INL_H_
#undef FOVEA_KERNELS_ATTENTION_RELATIVE_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_RELATIVE_INL_H_
#endif

#include <type_traits>

#include "fovea/kernels/attention/attention_dot-inl.h"
#include "fovea/kernels/attention/attention_positions-inl.h"
#include "fovea/kernels/attention/attention_relative.h"
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
                     AttentionScratch& scratch, const ScoreTargets& to)
        : dk_(call.dk()),
          size_(score.r.rows),
          content_(call, head, score.u.data + head * dk_, scratch, DotQueries<N>::kFirst),
          position_(call, head, score.v.data + head * dk_, scratch, DotQueries<N>::kSecond),
          positions_(score.positions, score.first, size_),
          dq_(to.dq),
          dparameters_(to.dparameters),
          r_(size_, dk_, to.dparameters || to.dq ? Needs::dots_and_mix : Needs::dots, false,
             kTableStore, scratch),
          band_(scratch.floats(AttentionScratch::distances, padded() * W)),
          dband_(scratch.floats(AttentionScratch::ddistances, padded() * W)) {
        for (std::int64_t t = 0; t < size_; ++t) r_.put(t, score.r.row(t) + head * dk_);
        r_.finish(size_);
        if (dparameters_)
            dr_ = scratch.floats(AttentionScratch::dtable, padded() * GradientWidth(dk_));
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
            position_.dots(r_.rows(0), want.begin, known_.begin, q, band_);
            known_.begin = want.begin;
        }
        if (want.end > known_.end) {
            position_.dots(r_.rows(0), known_.end, want.end, q, band_);
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

    // more [dk][W]: what else the queries' gradient is made of, or null.
    void finish(const QueryTile<N>& q, const float* more = nullptr) {
        flush(q);
        if (dparameters_) {
            content_.add_row_sums(q, dparameters_);
            position_.add_row_sums(q, dparameters_ + dk_);
        }
        if (more) content_.add(q, more);
        content_.finish(q, dq_, position_.gradient());
    }

private:
    using Range = typename TablePositions<N>::Range;

    std::int64_t padded() const { return round_up(size_, std::int64_t{32}); }

    // In the forward pass this was b = (q + v)·r.
    void flush(const QueryTile<N>& q) {
        if (dknown_.begin == dknown_.end) return;
        const std::int64_t width = GradientWidth(dk_);
        const std::int64_t begin = dknown_.begin / 32 * 32;
        const std::int64_t end = round_up(std::int64_t{dknown_.end}, std::int64_t{32});
        if (dr_) std::fill_n(dr_ + begin * width, (end - begin) * width, 0.0f);
        // Entries nobody asked for are 0 and skipped, where the numbers can.
        constexpr bool careful = std::is_same_v<N, typename N::Careful>;
        position_.template backward<careful>(r_.rows(0), dknown_.begin, dknown_.end, q, dband_,
                                             dr_);
        if (dr_)
            for (std::int64_t t = dknown_.begin; t < dknown_.end; ++t)
                for (std::int64_t e = 0; e < dk_; ++e)
                    dparameters_[(2 + t) * dk_ + e] += dr_[t * width + e];
        dknown_ = {0, 0};
    }

    std::int64_t dk_, size_;
    DotQueries<N> content_, position_;
    TablePositions<N> positions_;
    GradientView dq_;
    float* dparameters_;
    typename N::Store r_;
    float *band_, *dband_, *dr_ = nullptr;
    Range known_{0, 0}, dknown_{0, 0};
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
