#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_relative_segment.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_amx-inl.h"
#include "fovea/kernels/attention/attention_relative_segment-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

AttentionPieces RelativeSegmentPieces(Precision precision) {
    return PiecesOf<RelativeSegmentDot, RelativeSegmentDotTiles>(precision);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(RelativeSegmentPieces);

AttentionPieces RelativeSegmentDot::pieces(Precision precision) {
    return FOVEA_DISPATCH(RelativeSegmentPieces)(precision);
}

}  // namespace fovea::kernels
#endif
