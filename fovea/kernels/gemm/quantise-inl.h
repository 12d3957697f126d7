// f32 to int8 with one scale: s = max|x| / levels, q = round(x · (levels / max|x|)), nearest even,
// so that x ≈ s q and |q| <= levels (127, or 63 for int7). Where max|x| < 2⁻¹²⁰ all is 0; where it
// is not finite the scale is NaN, and with it every product that uses it. Included as
// simd_math-inl.h is.
#if defined(FOVEA_KERNELS_QUANTISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_QUANTISE_INL_H_
#undef FOVEA_KERNELS_QUANTISE_INL_H_
#else
#define FOVEA_KERNELS_QUANTISE_INL_H_
#endif

#include <bit>
#include <cstdint>
#include <limits>

#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct Scale {
    float scale, inverse;
};

// From the bits of max|x|: as integers, magnitudes are ordered as the floats are, ∞ and NaN above.
HWY_INLINE Scale ScaleOf(std::int32_t largest_bits, float levels) {
    if (largest_bits >= 0x7f800000) return {std::numeric_limits<float>::quiet_NaN(), 0.0f};
    const auto largest = std::bit_cast<float>(largest_bits);
    if (largest < 0x1p-120f) return {0.0f, 0.0f};
    return {largest / levels, levels / largest};
}

template <class V>
HWY_INLINE V MaxBits(V a, V b) {
    return hn::IfThenElse(hn::Gt(a, b), a, b);
}

HWY_INLINE std::int32_t LargestBits(const float* x, std::int64_t n) {
    const hn::ScalableTag<std::int32_t> di;
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(di));
    const auto magnitude = hn::Set(di, 0x7fffffff);
    auto largest = hn::Zero(di), second = largest;
    std::int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        largest = MaxBits(largest, hn::And(hn::BitCast(di, hn::LoadU(d, x + i)), magnitude));
        second = MaxBits(second, hn::And(hn::BitCast(di, hn::LoadU(d, x + i + lanes)), magnitude));
    }
    largest = MaxBits(largest, second);
    std::int32_t all[HWY_LANES(std::int32_t)];
    hn::StoreU(largest, di, all);
    std::int32_t result = 0;
    for (std::int64_t l = 0; l < lanes; ++l) result = all[l] > result ? all[l] : result;
    for (; i < n; ++i) {
        const std::int32_t bits = std::bit_cast<std::int32_t>(x[i]) & 0x7fffffff;
        result = bits > result ? bits : result;
    }
    return result;
}

// round(x · inverse), nearest even, in i32 lanes: adding 1.5 · 2²³ leaves the integer in the low
// bits. A lane that is not a number becomes 0 (its scale is NaN).
template <class D>
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> Quantise(D d, hn::Vec<D> x, hn::Vec<D> inverse) {
    const hn::RebindToSigned<D> di;
    const auto scaled = hn::Mul(x, inverse);
    const auto shifted = hn::Add(scaled, hn::Set(d, 12582912.0f));
    const auto q = hn::Sub(hn::BitCast(di, shifted), hn::Set(di, 0x4b400000));
    return hn::IfThenElseZero(hn::RebindMask(di, hn::Lt(hn::Abs(scaled), hn::Set(d, 128.0f))), q);
}

HWY_INLINE std::int8_t QuantiseOne(float x, float inverse) {
    const float scaled = x * inverse;
    if (!(scaled < 128.0f && scaled > -128.0f)) return 0;
    const float shifted = scaled + 12582912.0f;
    return static_cast<std::int8_t>(std::bit_cast<std::int32_t>(shifted) - 0x4b400000);
}

HWY_INLINE void QuantiseRow(const float* x, std::int64_t n, float inverse, std::int8_t* q) {
    std::int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<float> d;
    const hn::ScalableTag<std::uint16_t> d16;
    const hn::ScalableTag<std::uint8_t> d8;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const auto factor = hn::Set(d, inverse);
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
        const auto q0 = hn::BitCast(d16, Quantise(d, hn::LoadU(d, x + i), factor));
        const auto q1 = hn::BitCast(d16, Quantise(d, hn::LoadU(d, x + i + lanes), factor));
        const auto q2 = hn::BitCast(d16, Quantise(d, hn::LoadU(d, x + i + 2 * lanes), factor));
        const auto q3 = hn::BitCast(d16, Quantise(d, hn::LoadU(d, x + i + 3 * lanes), factor));
        const auto low = hn::BitCast(d8, hn::ConcatEven(d16, q1, q0));
        const auto high = hn::BitCast(d8, hn::ConcatEven(d16, q3, q2));
        hn::StoreU(hn::ConcatEven(d8, high, low), d8, reinterpret_cast<std::uint8_t*>(q + i));
    }
#endif
    for (; i < n; ++i) q[i] = QuantiseOne(x[i], inverse);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
