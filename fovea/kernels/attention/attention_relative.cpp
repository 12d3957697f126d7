#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_relative.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_amx-inl.h"
#include "fovea/kernels/attention/attention_relative-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

void RelativeForward(const AttentionCall& call, const RelativeDot& score, const ForwardTask& task,
                     const ForwardResult& result) {
    ForwardPiece<F32, RelativeDotTiles>(call, score, task, result);
}
void RelativeBackward(const AttentionCall& call, const RelativeDot& score, const BackwardTask& task,
                      const BackwardInput& in) {
    BackwardPiece<F32, RelativeDotTiles>(call, score, task, in);
}
void RelativeForwardBf16(const AttentionCall& call, const RelativeDot& score,
                         const ForwardTask& task, const ForwardResult& result) {
    ForwardPiece<Bf16Numbers, RelativeDotTiles>(call, score, task, result);
}
void RelativeBackwardBf16(const AttentionCall& call, const RelativeDot& score,
                          const BackwardTask& task, const BackwardInput& in) {
    BackwardPiece<Bf16Numbers, RelativeDotTiles>(call, score, task, in);
}
void RelativeForwardAmx(const AttentionCall& call, const RelativeDot& score,
                        const ForwardTask& task, const ForwardResult& result) {
    ForwardPiece<TileNumbers, RelativeDotTiles>(call, score, task, result);
}
void RelativeBackwardAmx(const AttentionCall& call, const RelativeDot& score,
                         const BackwardTask& task, const BackwardInput& in) {
    BackwardPiece<TileNumbers, RelativeDotTiles>(call, score, task, in);
}
void RelativeScores(const AttentionCall& call, const RelativeDot& score, const ForwardTask& task,
                    const ScoresPlace& place) {
    ScoresPiece<RelativeDotTiles>(call, score, task, place);
}
void RelativeScoresBackward(const AttentionCall& call, const RelativeDot& score,
                            const BackwardTask& task, const ScoresPlace& place) {
    ScoresBackwardPiece<RelativeDotTiles>(call, score, task, place);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(RelativeForward);
HWY_EXPORT(RelativeBackward);
HWY_EXPORT(RelativeForwardBf16);
HWY_EXPORT(RelativeBackwardBf16);
HWY_EXPORT(RelativeForwardAmx);
HWY_EXPORT(RelativeBackwardAmx);
HWY_EXPORT(RelativeScores);
HWY_EXPORT(RelativeScoresBackward);

AttentionPieces<RelativeDot> pieces_of(const RelativeDot&, Precision precision) {
    AttentionPieces<RelativeDot> p{.forward = FOVEA_DISPATCH(RelativeForward),
                                   .backward = FOVEA_DISPATCH(RelativeBackward),
                                   .scores = FOVEA_DISPATCH(RelativeScores),
                                   .scores_backward = FOVEA_DISPATCH(RelativeScoresBackward)};
    if (precision == Precision::f32) return p;
    const bool amx = active_isa() == Isa::amx;
    p.forward = amx ? FOVEA_DISPATCH(RelativeForwardAmx) : FOVEA_DISPATCH(RelativeForwardBf16);
    p.backward = amx ? FOVEA_DISPATCH(RelativeBackwardAmx) : FOVEA_DISPATCH(RelativeBackwardBf16);
    return p;
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
