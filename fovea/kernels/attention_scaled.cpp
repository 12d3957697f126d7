// ScaledDot: s = scale q·k (Vaswani et al. 2017, §3.2.1).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention_scaled.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention_dot-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

template <class N>
class ScaledDotTiles {
public:
    static constexpr bool kScaled = true, kFactor = false;

    ScaledDotTiles(const AttentionCall& call, const ScaledDot&, int head, const VisibleGroup&,
                   AttentionScratch& scratch, const GradientView& dq = {}, float* = nullptr)
        : queries_(call, head, nullptr, scratch, DotQueries<N>::kFirst), dq_(dq) {}

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

void ScaledForward(const AttentionCall& call, const ScaledDot& score, const ForwardTask& task,
                   const ForwardResult& result) {
    ForwardPiece<F32, ScaledDotTiles<F32>>(call, score, task, result);
}
void ScaledBackward(const AttentionCall& call, const ScaledDot& score, const BackwardTask& task,
                    const BackwardInput& in) {
    BackwardPiece<F32, ScaledDotTiles<F32>>(call, score, task, in);
}
void ScaledScores(const AttentionCall& call, const ScaledDot& score, const ForwardTask& task,
                  const ScoresPlace& place) {
    ScoresPiece<F32, ScaledDotTiles<F32>>(call, score, task, place);
}
void ScaledScoresBackward(const AttentionCall& call, const ScaledDot& score,
                          const BackwardTask& task, const ScoresPlace& place) {
    ScoresBackwardPiece<F32, ScaledDotTiles<F32>>(call, score, task, place);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(ScaledForward);
HWY_EXPORT(ScaledBackward);
HWY_EXPORT(ScaledScores);
HWY_EXPORT(ScaledScoresBackward);

AttentionPieces<ScaledDot> pieces_of(const ScaledDot&, Precision) {
    return {.forward = FOVEA_DISPATCH(ScaledForward),
            .backward = FOVEA_DISPATCH(ScaledBackward),
            .scores = FOVEA_DISPATCH(ScaledScores),
            .scores_backward = FOVEA_DISPATCH(ScaledScoresBackward)};
}

template void attention_forward(const AttentionCall&, const ScaledDot&, View, View);
template void attention_backward(const AttentionCall&, const ScaledDot&, ConstView, ConstView,
                                 ConstView, const AttentionGradients&);
template void attention_scores(const AttentionCall&, const ScaledDot&, const std::int64_t*, float*);
template void attention_scores_backward(const AttentionCall&, const ScaledDot&, const std::int64_t*,
                                        const float*, const AttentionGradients&);

}  // namespace fovea::kernels
#endif
