// BiasedDot: s = scale q·k + bias[i - j] (T5: Raffel et al. 2020, §2.1; ALiBi: Press et al. 2022).
#if defined(FOVEA_KERNELS_ATTENTION_BIASED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_BIASED_INL_H_
#undef FOVEA_KERNELS_ATTENTION_BIASED_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_BIASED_INL_H_
#endif

#include "fovea/kernels/attention/attention_biased.h"
#include "fovea/kernels/attention/attention_dot-inl.h"
#include "fovea/kernels/attention/attention_positions-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class N>
class BiasedDotTiles {
public:
    static constexpr bool kScaled = false, kFactor = false;  // the bias wants the plain ds
    static constexpr int W = N::kQueries;

    BiasedDotTiles(const AttentionCall& call, const BiasedDot& score, int head,
                   AttentionScratch& scratch, const ScoreTargets& to)
        : call_(call),
          size_(score.bias.cols),
          queries_(call, head, nullptr, scratch, DotQueries<N>::kFirst),
          positions_(score.positions, score.first, size_),
          dq_(to.dq),
          dparameters_(to.dparameters) {
        // Pairs nobody sees, in a tile where some pair is seen, stay within the margins.
        const std::int64_t all = size_ + 2 * kMargin;
        bias_ = scratch.floats(AttentionScratch::distances, all);
        std::fill_n(bias_, all, 0.0f);
        std::copy_n(score.bias.row(head), size_, bias_ + kMargin);
        if (!dparameters_) return;
        dbias_ = scratch.floats(AttentionScratch::ddistances, all);
    }

    void load(const QueryTile<N>& q) {
        queries_.load(q);
        positions_.load(q);
    }

    void tile(const QueryTile<N>& q, const KeyTile<N>& k, float* s) {
        queries_.dots(k.k, k.begin, k.end, q, s);
        const FloatTag d;
        const FloatVec by = hn::Set(d, call_.scale);
        const bool consecutive = positions_.consecutive();
        for (int j = k.begin; j < k.end; ++j) {
            const std::int32_t key = positions_.key(k, j);
            const float* from = bias_ + kMargin + (consecutive ? positions_.entry(k, j, 0) : 0);
            for (int n = 0; n < q.vectors; ++n) {
                float* to = s + j * W + n * kLanes;
                const FloatVec b =
                    consecutive ? hn::LoadU(d, from + n * kLanes)
                                : hn::GatherIndex(d, from, positions_.entries(key, n * kLanes));
                hn::Store(Fma(by, hn::Load(d, to), b), d, to);
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
        // Neighbouring keys are an entry apart: taken 16 apart, their stores do not overlap the
        // next loads; 16 whatever the vectors, so that every level adds in one order.
        constexpr int vectors_of_16 = 16 / kLanes;
        for (int first = 0; first < q.vectors; first += vectors_of_16)
            for (int part = 0; part < 16; ++part)
                for (int j = k.begin + part; j < k.end; j += 16) {
                    float* to = dbias_ + kMargin + positions_.entry(k, j, 0);
                    for (int n = first; n < HWY_MIN(q.vectors, first + vectors_of_16); ++n) {
                        const FloatVec g = hn::Load(d, ds + j * W + n * kLanes);
                        hn::StoreU(hn::Add(hn::LoadU(d, to + n * kLanes), g), d, to + n * kLanes);
                    }
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

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
