#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_biased.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_amx-inl.h"
#include "fovea/kernels/attention/attention_biased-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

void BiasedForward(const AttentionCall& call, const BiasedDot& score, const ForwardTask& task,
                   const ForwardResult& result) {
    ForwardPiece<F32, BiasedDotTiles>(call, score, task, result);
}
void BiasedBackward(const AttentionCall& call, const BiasedDot& score, const BackwardTask& task,
                    const BackwardInput& in) {
    BackwardPiece<F32, BiasedDotTiles>(call, score, task, in);
}
void BiasedForwardBf16(const AttentionCall& call, const BiasedDot& score, const ForwardTask& task,
                       const ForwardResult& result) {
    ForwardPiece<Bf16Numbers, BiasedDotTiles>(call, score, task, result);
}
void BiasedBackwardBf16(const AttentionCall& call, const BiasedDot& score, const BackwardTask& task,
                        const BackwardInput& in) {
    BackwardPiece<Bf16Numbers, BiasedDotTiles>(call, score, task, in);
}
void BiasedForwardAmx(const AttentionCall& call, const BiasedDot& score, const ForwardTask& task,
                      const ForwardResult& result) {
    ForwardPiece<TileNumbers, BiasedDotTiles>(call, score, task, result);
}
void BiasedBackwardAmx(const AttentionCall& call, const BiasedDot& score, const BackwardTask& task,
                       const BackwardInput& in) {
    BackwardPiece<TileNumbers, BiasedDotTiles>(call, score, task, in);
}
void BiasedScores(const AttentionCall& call, const BiasedDot& score, const ForwardTask& task,
                  const ScoresPlace& place) {
    ScoresPiece<BiasedDotTiles>(call, score, task, place);
}
void BiasedScoresBackward(const AttentionCall& call, const BiasedDot& score,
                          const BackwardTask& task, const ScoresPlace& place) {
    ScoresBackwardPiece<BiasedDotTiles>(call, score, task, place);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(BiasedForward);
HWY_EXPORT(BiasedBackward);
HWY_EXPORT(BiasedForwardBf16);
HWY_EXPORT(BiasedBackwardBf16);
HWY_EXPORT(BiasedForwardAmx);
HWY_EXPORT(BiasedBackwardAmx);
HWY_EXPORT(BiasedScores);
HWY_EXPORT(BiasedScoresBackward);

AttentionPieces<BiasedDot> pieces_of(const BiasedDot&, Precision precision) {
    AttentionPieces<BiasedDot> p{.forward = FOVEA_DISPATCH(BiasedForward),
                                 .backward = FOVEA_DISPATCH(BiasedBackward),
                                 .scores = FOVEA_DISPATCH(BiasedScores),
                                 .scores_backward = FOVEA_DISPATCH(BiasedScoresBackward)};
    if (precision == Precision::f32) return p;
    const bool amx = active_isa() == Isa::amx;
    p.forward = amx ? FOVEA_DISPATCH(BiasedForwardAmx) : FOVEA_DISPATCH(BiasedForwardBf16);
    p.backward = amx ? FOVEA_DISPATCH(BiasedBackwardAmx) : FOVEA_DISPATCH(BiasedBackwardBf16);
    return p;
}

template void attention_forward(const AttentionCall&, const BiasedDot&, View, View);
template void attention_backward(const AttentionCall&, const BiasedDot&, ConstView, ConstView,
                                 ConstView, const AttentionGradients&);
template void attention_scores(const AttentionCall&, const BiasedDot&, const std::int64_t*, float*);
template void attention_scores_backward(const AttentionCall&, const BiasedDot&, const std::int64_t*,
                                        const float*, const AttentionGradients&);

}  // namespace fovea::kernels
#endif
