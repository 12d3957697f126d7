// ScaledDot: s = scale q·k (Vaswani et al. 2017, §3.2.1).
#if defined(FOVEA_KERNELS_ATTENTION_SCALED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_SCALED_INL_H_
#undef FOVEA_KERNELS_ATTENTION_SCALED_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_SCALED_INL_H_
#endif

#include "fovea/kernels/attention/attention_dot-inl.h"
#include "fovea/kernels/attention/attention_scaled.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class N>
class ScaledDotTiles {
public:
    static constexpr bool kScaled = true, kFactor = false;

    ScaledDotTiles(const AttentionCall& call, const ScaledDot&, int head, AttentionScratch& scratch,
                   const ScoreTargets& to)
        : queries_(call, head, nullptr, scratch, DotQueries<N>::kFirst), dq_(to.dq) {}

    void load(const QueryTile<N>& q) { queries_.load(q); }
    void tile(const QueryTile<N>& q, const KeyTile<N>& k, float* s) {
        queries_.dots(k.k, k.begin, k.end, q, s);
    }

    void start(const QueryTile<N>& q) { queries_.start(q); }
    template <bool Careful>
    void tile_backward(const QueryTile<N>& q, const KeyTile<N>& k, const float* ds, float* dk) {
        queries_.template backward<Careful>(k.k, k.begin, k.end, q, ds, dk);
    }
    void finish(const QueryTile<N>& q) { queries_.finish(q, dq_, nullptr); }

private:
    DotQueries<N> queries_;
    GradientView dq_;
};

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
