// The three products of attention_products-inl.h in bf16, by f32 arithmetic in the order of AMX's
// tdpbf16ps: operands hold values already rounded to bf16; a sum goes by 32 terms, one chain over
// the even and one over the odd terms, both from 0, then sum += even + odd. Terms count from the
// beginning of the operand (element of a row, key of a tile, query of a tile), so that a block of
// 32 is the same for everybody; terms that are left out (no row sees the key) are zeros there.
#if defined(FOVEA_KERNELS_ATTENTION_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_BF16_INL_H_
#undef FOVEA_KERNELS_ATTENTION_BF16_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_BF16_INL_H_
#endif

#include <cstdint>

#include "fovea/kernels/attention/attention_products-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// depth: a multiple of 32, padded by zeros.
void Bf16Dots(const float* const* x, int begin, int end, std::int64_t depth, const float* q,
              std::int64_t stride, int vectors, float* s);

template <bool Careful>
void Bf16Mix(const float* const* x, int begin, int end, std::int64_t width, const float* p,
             std::int64_t stride, Found found, const float* alpha, int vectors, float* o);

// count: at most 32, one block.
template <bool Careful>
void Bf16Outer(const float* p, std::int64_t stride, int keys, int count, const float* z,
               std::int64_t z_stride, std::int64_t width, float* y, std::int64_t y_stride);

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
