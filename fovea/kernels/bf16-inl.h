// bf16 on vectors: the rounding of vcvtneps2bf16 (see bf16.h) by integer arithmetic, on every
// level. Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_BF16_INL_H_
#undef FOVEA_KERNELS_BF16_INL_H_
#else
#define FOVEA_KERNELS_BF16_INL_H_
#endif

#include <cstdint>

#include "fovea/kernels/bf16.h"
#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// The bits of x rounded to bf16, in the upper half of each lane; the lower half is 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> Bf16Bits(D d, V x) {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, x);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto up = hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
    const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
    const auto kept = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), quiet, up);
    const auto rounded = hn::And(kept, hn::Set(du, 0xffff0000u));
    // Denormals: their exponent bits are all 0.
    const auto tiny = hn::Eq(hn::And(bits, hn::Set(du, 0x7f800000u)), hn::Zero(du));
    (void)d;
    return hn::IfThenElse(tiny, hn::And(bits, hn::Set(du, 0x80000000u)), rounded);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V RoundToBf16(D d, V x) {
    return hn::BitCast(d, Bf16Bits(d, x));
}

#if HWY_TARGET == HWY_AVX3
// 32 values, `low` before `high`, by the instruction of AVX512-BF16: the bits of Bf16Bits. As
// assembly, because the level does not imply it; only where has_avx512_bf16().
HWY_INLINE __m512i ConvertToBf16(Part16 low, Part16 high) {
    __m512i values;
    __asm__("vcvtne2ps2bf16 %2, %1, %0" : "=v"(values) : "v"(high.raw), "v"(low.raw));
    return values;
}
#endif

// Sixteen pairs (even, odd) side by side, as the words of a tile. `convert`: by ConvertToBf16.
HWY_INLINE void StoreBf16Pairs(const F16& even, const F16& odd, [[maybe_unused]] bool convert,
                               Bf16* to) {
#if HWY_TARGET == HWY_AVX3
    if (convert) {
        const __m512i halves = ConvertToBf16(even.part[0], odd.part[0]);
        alignas(64) static constexpr std::uint16_t order[32] = {
            0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
            8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
        _mm512_storeu_si512(to, _mm512_permutexvar_epi16(_mm512_load_si512(order), halves));
        return;
    }
#endif
    const Tag16 d;
    const hn::RebindToUnsigned<Tag16> du;
    for (std::size_t p = 0; p < parts16; ++p)
        hn::StoreU(hn::Or(hn::ShiftRight<16>(Bf16Bits(d, even.part[p])), Bf16Bits(d, odd.part[p])),
                   du, reinterpret_cast<std::uint32_t*>(to) + p * part_lanes);
}

// n values of f32 to bf16, side by side.
HWY_INLINE void ToBf16Row(const float* from, std::int64_t n, Bf16* to) {
    std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<float> d;
    const hn::ScalableTag<std::uint16_t> d16;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        const auto low = hn::BitCast(d16, Bf16Bits(d, hn::LoadU(d, from + i)));
        const auto high = hn::BitCast(d16, Bf16Bits(d, hn::LoadU(d, from + i + lanes)));
        hn::StoreU(hn::ConcatOdd(d16, high, low), d16, to + i);
    }
#endif
    for (; i < n; ++i) to[i] = to_bf16(from[i]);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
