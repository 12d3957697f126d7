#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_biased.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_amx-inl.h"
#include "fovea/kernels/attention/attention_biased-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

AttentionPieces BiasedPieces(Precision precision) {
    return PiecesOf<BiasedDot, BiasedDotTiles>(precision);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(BiasedPieces);

AttentionPieces BiasedDot::pieces(Precision precision) {
    return FOVEA_DISPATCH(BiasedPieces)(precision);
}

}  // namespace fovea::kernels
#endif
