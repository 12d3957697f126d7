// Gaussian around a scaled dot (Luong et al. 2015, §3.2, local-p, eq. 10): weights of the softmax
// are multiplied by g = exp(-(j - centre)² / 2σ²) and not normalised again. f32 in a bf16 run too.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_gaussian.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_dot-inl.h"
#include "fovea/kernels/attention/attention_gaussian.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class N>
class GaussianTiles {
public:
    static constexpr bool kScaled = true, kFactor = true;
    static constexpr int W = N::kQueries;

    GaussianTiles(const AttentionCall& call, const Gaussian& score, int head,
                  AttentionScratch& scratch, const ScoreTargets& to)
        : queries_(call, head, nullptr, scratch, DotQueries<N>::kFirst),
          score_(score),
          head_(head),
          to_(to) {}

    void load(const QueryTile<N>& q) {
        queries_.load(q);
        std::fill_n(centre_, W, 0.0f);
        for (int r = 0; r < q.count; ++r) centre_[r] = score_.centres.row(q.first + r)[head_];
    }
    void tile(const QueryTile<N>& q, const KeyTile<N>& k, float* s) {
        queries_.dots(k.k, k.begin, k.end, q, s);
    }

    // f ∘= g
    void factor(const QueryTile<N>& q, const KeyTile<N>& k, float* f) {
        const FloatTag d;
        const FloatVec narrow = hn::Set(d, -0.5f / (score_.sigma * score_.sigma));
        for (int n = 0; n < q.vectors; ++n) {
            const FloatVec centre = hn::Load(d, centre_ + n * kLanes);
            for (int j = k.begin; j < k.end; ++j) {
                const FloatVec x = hn::Sub(hn::Set(d, static_cast<float>(k.first + j)), centre);
                float* at = f + j * W + n * kLanes;
                const FloatVec g = Exp(d, hn::Mul(hn::Mul(x, x), narrow));
                hn::Store(hn::Mul(hn::Load(d, at), g), d, at);
            }
        }
    }

    void start(const QueryTile<N>& q) {
        queries_.start(q);
        std::fill_n(dcentre_, W, 0.0f);
    }

    // g' = g (j - centre) / σ²:  dcentre = Σⱼ p f (j - centre) / σ² · dO·v_j, f with dropout and g.
    void factor_backward(const QueryTile<N>& q, const KeyTile<N>& k, const float* pf,
                         const float* dp) {
        const FloatTag d;
        const FloatVec by = hn::Set(d, 1.0f / (score_.sigma * score_.sigma));
        for (int n = 0; n < q.vectors; ++n) {
            const FloatVec centre = hn::Load(d, centre_ + n * kLanes);
            FloatVec sum = hn::Load(d, dcentre_ + n * kLanes);
            for (int j = k.begin; j < k.end; ++j) {
                const int at = j * W + n * kLanes;
                const FloatVec x = hn::Sub(hn::Set(d, static_cast<float>(k.first + j)), centre);
                const FloatVec w = hn::Load(d, pf + at);
                sum = FmaUnlessZero<true>(w, hn::Mul(hn::Mul(x, by), hn::Load(d, dp + at)), sum);
            }
            hn::Store(sum, d, dcentre_ + n * kLanes);
        }
    }

    template <bool Careful>
    void tile_backward(const QueryTile<N>& q, const KeyTile<N>& k, const float* ds, float* dk) {
        queries_.template backward<Careful>(k.k, k.begin, k.end, q, ds, dk);
    }

    void finish(const QueryTile<N>& q) {
        queries_.finish(q, to_.dq, nullptr);
        const GradientView& to = to_.drows;
        if (!to) return;
        for (int r = 0; r < q.count; ++r) {
            float* at = to.view.row(q.first + r) + head_;
            *at = (to.add ? *at : 0.0f) + dcentre_[r];
        }
    }

private:
    DotQueries<N> queries_;
    const Gaussian& score_;
    int head_;
    ScoreTargets to_;
    alignas(64) float centre_[W], dcentre_[W];
};

AttentionPieces GaussianPieces() { return PiecesWith<Gaussian, GaussianTiles, F32>(); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(GaussianPieces);

AttentionPieces Gaussian::pieces(Precision) { return FOVEA_DISPATCH(GaussianPieces)(); }

}  // namespace fovea::kernels
#endif
