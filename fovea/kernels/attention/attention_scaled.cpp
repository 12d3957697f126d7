#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_scaled.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_amx-inl.h"
#include "fovea/kernels/attention/attention_scaled-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

void ScaledForward(const AttentionCall& call, const ScaledDot& score, const ForwardTask& task,
                   const ForwardResult& result) {
    ForwardPiece<F32, ScaledDotTiles>(call, score, task, result);
}
void ScaledBackward(const AttentionCall& call, const ScaledDot& score, const BackwardTask& task,
                    const BackwardInput& in) {
    BackwardPiece<F32, ScaledDotTiles>(call, score, task, in);
}
void ScaledForwardBf16(const AttentionCall& call, const ScaledDot& score, const ForwardTask& task,
                       const ForwardResult& result) {
    ForwardPiece<Bf16Numbers, ScaledDotTiles>(call, score, task, result);
}
void ScaledBackwardBf16(const AttentionCall& call, const ScaledDot& score, const BackwardTask& task,
                        const BackwardInput& in) {
    BackwardPiece<Bf16Numbers, ScaledDotTiles>(call, score, task, in);
}
void ScaledForwardAmx(const AttentionCall& call, const ScaledDot& score, const ForwardTask& task,
                      const ForwardResult& result) {
    ForwardPiece<TileNumbers, ScaledDotTiles>(call, score, task, result);
}
void ScaledBackwardAmx(const AttentionCall& call, const ScaledDot& score, const BackwardTask& task,
                       const BackwardInput& in) {
    BackwardPiece<TileNumbers, ScaledDotTiles>(call, score, task, in);
}
void ScaledScores(const AttentionCall& call, const ScaledDot& score, const ForwardTask& task,
                  const ScoresPlace& place) {
    ScoresPiece<ScaledDotTiles>(call, score, task, place);
}
void ScaledScoresBackward(const AttentionCall& call, const ScaledDot& score,
                          const BackwardTask& task, const ScoresPlace& place) {
    ScoresBackwardPiece<ScaledDotTiles>(call, score, task, place);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(ScaledForward);
HWY_EXPORT(ScaledBackward);
HWY_EXPORT(ScaledForwardBf16);
HWY_EXPORT(ScaledBackwardBf16);
HWY_EXPORT(ScaledForwardAmx);
HWY_EXPORT(ScaledBackwardAmx);
HWY_EXPORT(ScaledScores);
HWY_EXPORT(ScaledScoresBackward);

AttentionPieces<ScaledDot> pieces_of(const ScaledDot&, Precision precision) {
    AttentionPieces<ScaledDot> p{.forward = FOVEA_DISPATCH(ScaledForward),
                                 .backward = FOVEA_DISPATCH(ScaledBackward),
                                 .scores = FOVEA_DISPATCH(ScaledScores),
                                 .scores_backward = FOVEA_DISPATCH(ScaledScoresBackward)};
    if (precision == Precision::f32) return p;
    const bool amx = active_isa() == Isa::amx;
    p.forward = amx ? FOVEA_DISPATCH(ScaledForwardAmx) : FOVEA_DISPATCH(ScaledForwardBf16);
    p.backward = amx ? FOVEA_DISPATCH(ScaledBackwardAmx) : FOVEA_DISPATCH(ScaledBackwardBf16);
    return p;
}

template void attention_forward(const AttentionCall&, const ScaledDot&, View, View);
template void attention_backward(const AttentionCall&, const ScaledDot&, ConstView, ConstView,
                                 ConstView, const AttentionGradients&);
template void attention_scores(const AttentionCall&, const ScaledDot&, const std::int64_t*, float*);
template void attention_scores_backward(const AttentionCall&, const ScaledDot&, const std::int64_t*,
                                        const float*, const AttentionGradients&);

}  // namespace fovea::kernels
#endif
