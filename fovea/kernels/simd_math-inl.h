// Vector arithmetic every kernel shares: fused multiply-add that is fused on every level, partial
// loads and stores, exp/log/tanh/erf/sigmoid of our own, and sixteen virtual lanes whose sums have
// one fixed order. Only exact IEEE operations are used, so that all levels give the same bits.
// See simd_targets.h for how a kernel file includes this.
//
// Largest errors against double, over all finite f32 whose result is not denormal (simd_math_test):
//   Exp 1.0 ulp   Log 1.0 ulp   Tanh 1.4 ulp   Erf 1.2 ulp   Sigmoid 2.5 ulp
// Denormal arguments and results count as zero, as everywhere inside parallel_for.
#if defined(FOVEA_KERNELS_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_SIMD_MATH_INL_H_
#undef FOVEA_KERNELS_SIMD_MATH_INL_H_
#else
#define FOVEA_KERNELS_SIMD_MATH_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// a b + c with one rounding.
template <class V>
HWY_INLINE V Fma(V a, V b, V c) {
#if HWY_NATIVE_FMA
    return hn::MulAdd(a, b, c);
#else
    static_assert(HWY_TARGET == HWY_SCALAR, "a level of several lanes must have its own fma");
    return V(std::fma(a.raw, b.raw, c.raw));
#endif
}

// c - a b with one rounding.
template <class V>
HWY_INLINE V NegFma(V a, V b, V c) {
#if HWY_NATIVE_FMA
    return hn::NegMulAdd(a, b, c);
#else
    return V(std::fma(-a.raw, b.raw, c.raw));
#endif
}

// The first n lanes (0 <= n <= lanes) of memory, zeros behind; reads nothing beyond them.
template <class D>
HWY_INLINE hn::Vec<D> LoadSome(D d, const hn::TFromD<D>* p, std::int64_t n) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(n)), d, p);
#else
    HWY_ALIGN hn::TFromD<D> lanes[HWY_LANES(hn::TFromD<D>)] = {};
    for (std::int64_t i = 0; i < n; ++i) lanes[i] = p[i];
    return hn::Load(d, lanes);
#endif
}

template <class D>
HWY_INLINE void StoreSome(hn::Vec<D> v, D d, hn::TFromD<D>* p, std::int64_t n) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(n)), d, p);
#else
    HWY_ALIGN hn::TFromD<D> lanes[HWY_LANES(hn::TFromD<D>)];
    hn::Store(v, d, lanes);
    for (std::int64_t i = 0; i < n; ++i) p[i] = lanes[i];
#endif
}

// eˣ where the result is finite and normal.  x = n ln 2 + r, |r| <= ln 2 / 2;
// eʳ = 1 + r + r² q(r), q minimax of degree 4.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpInRange(D d, V x) {
    const hn::RebindToSigned<D> di;
    const V magic = hn::Set(d, 12582912.0f);  // 1.5 · 2²³: its last bit counts ones
    const V shifted = Fma(x, hn::Set(d, 1.44269504f), magic);
    const V n = hn::Sub(shifted, magic);
    V r = NegFma(n, hn::Set(d, 0.693359375f), x);  // ln 2 in two parts; the first product is exact
    r = NegFma(n, hn::Set(d, -2.12194440e-4f), r);
    V q = hn::Set(d, 1.382130431e-03f);
    q = Fma(q, r, hn::Set(d, 8.368669078e-03f));
    q = Fma(q, r, hn::Set(d, 4.166825861e-02f));
    q = Fma(q, r, hn::Set(d, 1.666652113e-01f));
    q = Fma(q, r, hn::Set(d, 4.999999404e-01f));
    const V p = hn::Add(Fma(hn::Mul(r, r), q, r), hn::Set(d, 1.0f));
    // Times 2ⁿ by adding n to the exponent.
    return hn::BitCast(d, hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

// eˣ for x <= 0, or −∞, or NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpNotPositive(D d, V x) {
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33654f)), ExpInRange(d, x));
}

// eˣ.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D d, V x) {
    V y = ExpInRange(d, x);
    y = hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.7228394f)),
                       hn::Set(d, std::numeric_limits<float>::infinity()), y);
    y = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.33654f)), y);
    return hn::IfThenElse(hn::IsNaN(x), x, y);
}

// ln x.  x = 2ᵉ (1 + f), √½ <= 1 + f < √2;  ln(1 + f) = f - f²/2 + f³ p(f), p of degree 8.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Log(D d, V x) {
    const hn::RebindToSigned<D> di;
    const auto root_half = hn::Set(di, 0x3f3504f3);
    const auto bits = hn::Sub(hn::BitCast(di, x), root_half);
    const V e = hn::ConvertTo(d, hn::ShiftRight<23>(bits));
    const V f = hn::Sub(hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(di, 0x7fffff)), root_half)),
                        hn::Set(d, 1.0f));
    V p = hn::Set(d, 6.749154627e-02f);
    p = Fma(p, f, hn::Set(d, -1.167000681e-01f));
    p = Fma(p, f, hn::Set(d, 1.188353971e-01f));
    p = Fma(p, f, hn::Set(d, -1.240624115e-01f));
    p = Fma(p, f, hn::Set(d, 1.422035992e-01f));
    p = Fma(p, f, hn::Set(d, -1.666798890e-01f));
    p = Fma(p, f, hn::Set(d, 2.000207156e-01f));
    p = Fma(p, f, hn::Set(d, -2.500000894e-01f));
    p = Fma(p, f, hn::Set(d, 3.333331347e-01f));
    const V f2 = hn::Mul(f, f);
    V y = hn::Mul(hn::Mul(p, f), f2);
    y = Fma(e, hn::Set(d, -2.12194440e-4f), y);
    y = NegFma(f2, hn::Set(d, 0.5f), y);
    y = Fma(e, hn::Set(d, 0.693359375f), hn::Add(f, y));
    const V inf = hn::Set(d, std::numeric_limits<float>::infinity());
    y = hn::IfThenElse(hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min())), hn::Neg(inf), y);
    y = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()),
                       y);
    return hn::IfThenElse(hn::Lt(x, inf), y, x);  // +∞ and NaN stay as they are
}

// 1 / (1 + e⁻ˣ)
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sigmoid(D d, V x) {
    const V one = hn::Set(d, 1.0f);
    return hn::Div(one, hn::Add(one, Exp(d, hn::Neg(x))));
}

// |x| < 0.625: x + x³ p(x²), p of degree 4.  Beyond: 1 - 2 / (e^{2|x|} + 1), with x's sign.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Tanh(D d, V x) {
    const V size = hn::Abs(x), s = hn::Mul(x, x);
    V p = hn::Set(d, -5.694191903e-03f);
    p = Fma(p, s, hn::Set(d, 2.062947676e-02f));
    p = Fma(p, s, hn::Set(d, -5.373678356e-02f));
    p = Fma(p, s, hn::Set(d, 1.333140731e-01f));
    p = Fma(p, s, hn::Set(d, -3.333328068e-01f));
    const V small = Fma(hn::Mul(p, s), x, x);
    const V one = hn::Set(d, 1.0f);
    const V e = Exp(d, hn::Add(size, size));
    const V large = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
    return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.625f)), small, hn::CopySign(large, x));
}

// |x| < 0.93: x + x p(x²), p of degree 5.  Beyond: 1 - e^{g(|x|)}, g = ln erfc of degree 6
// (weighted by erfc, so that the error of erf is even), with x's sign; 1 from 3.95 on.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erf(D d, V x) {
    const V size = hn::Abs(x), s = hn::Mul(x, x);
    V p = hn::Set(d, -5.959583796e-04f);
    p = Fma(p, s, hn::Set(d, 4.987352528e-03f));
    p = Fma(p, s, hn::Set(d, -2.676296607e-02f));
    p = Fma(p, s, hn::Set(d, 1.128173098e-01f));
    p = Fma(p, s, hn::Set(d, -3.761248887e-01f));
    p = Fma(p, s, hn::Set(d, 1.283791512e-01f));
    const V small = Fma(p, x, x);
    const V edge = hn::Set(d, 3.95f);
    const V t = hn::IfThenElse(hn::Gt(size, edge), edge, size);
    V g = hn::Set(d, 1.948822173e-04f);
    g = Fma(g, t, hn::Set(d, -3.032885259e-03f));
    g = Fma(g, t, hn::Set(d, 2.218576148e-02f));
    g = Fma(g, t, hn::Set(d, -1.038461998e-01f));
    g = Fma(g, t, hn::Set(d, -6.372796297e-01f));
    g = Fma(g, t, hn::Set(d, -1.127617717e+00f));
    g = Fma(g, t, hn::Set(d, -2.097167453e-04f));
    const V large = hn::Sub(hn::Set(d, 1.0f), Exp(d, g));
    return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.93f)), small, hn::CopySign(large, x));
}

// Sixteen virtual lanes: one vector of AVX-512, two of AVX2, sixteen scalars. A reduction that
// keeps element i in lane i mod 16 and ends with Sum16 or Max16 gives the same bits on every level.
using Tag16 = hn::CappedTag<float, 16>;
using Part16 = hn::Vec<Tag16>;
inline constexpr std::size_t part_lanes = HWY_MIN(HWY_LANES(float), 16);
inline constexpr std::size_t parts16 = 16 / part_lanes;

struct F16 {
    Part16 part[parts16];
};

HWY_INLINE F16 Set16(float x) {
    F16 r;
    for (std::size_t i = 0; i < parts16; ++i) r.part[i] = hn::Set(Tag16(), x);
    return r;
}
HWY_INLINE F16 Zero16() { return Set16(0.0f); }

HWY_INLINE F16 Load16(const float* p) {
    F16 r;
    for (std::size_t i = 0; i < parts16; ++i) r.part[i] = hn::LoadU(Tag16(), p + i * part_lanes);
    return r;
}
HWY_INLINE void Store16(const F16& v, float* p) {
    for (std::size_t i = 0; i < parts16; ++i) hn::StoreU(v.part[i], Tag16(), p + i * part_lanes);
}

// The first n of 16 (0 <= n <= 16), `rest` behind them.
HWY_INLINE F16 LoadSome16(const float* p, std::int64_t n, float rest = 0.0f) {
    F16 r;
    for (std::size_t i = 0; i < parts16; ++i) {
        const auto first = static_cast<std::int64_t>(i * part_lanes);
        const std::int64_t here =
            n <= first ? 0 : HWY_MIN(n - first, static_cast<std::int64_t>(part_lanes));
        const auto mask = hn::FirstN(Tag16(), static_cast<std::size_t>(here));
        r.part[i] =
            hn::IfThenElse(mask, LoadSome(Tag16(), p + first, here), hn::Set(Tag16(), rest));
    }
    return r;
}
HWY_INLINE void StoreSome16(const F16& v, float* p, std::int64_t n) {
    for (std::size_t i = 0; i < parts16; ++i) {
        const auto first = static_cast<std::int64_t>(i * part_lanes);
        if (n > first)
            StoreSome(v.part[i], Tag16(), p + first,
                      HWY_MIN(n - first, static_cast<std::int64_t>(part_lanes)));
    }
}

// r.part[i] = f(a.part[i], …): elementwise work on all sixteen.
template <class F, class... Args>
HWY_INLINE F16 Map16(const F& f, const Args&... args) {
    F16 r;
    for (std::size_t i = 0; i < parts16; ++i) r.part[i] = f(args.part[i]...);
    return r;
}
HWY_INLINE F16 Add16(const F16& a, const F16& b) {
    F16 r;
    for (std::size_t i = 0; i < parts16; ++i) r.part[i] = hn::Add(a.part[i], b.part[i]);
    return r;
}
HWY_INLINE F16 Mul16(const F16& a, const F16& b) {
    F16 r;
    for (std::size_t i = 0; i < parts16; ++i) r.part[i] = hn::Mul(a.part[i], b.part[i]);
    return r;
}
HWY_INLINE F16 Fma16(const F16& a, const F16& b, const F16& c) {
    F16 r;
    for (std::size_t i = 0; i < parts16; ++i) r.part[i] = Fma(a.part[i], b.part[i], c.part[i]);
    return r;
}

// Folds in half until one lane is left: lane i with lane i + 8, then + 4, + 2, + 1.
template <class Op>
HWY_INLINE float Fold16(F16 v, const Op& op) {
    for (std::size_t n = parts16; n > 1; n /= 2)
        for (std::size_t i = 0; i < n / 2; ++i) v.part[i] = op(v.part[i], v.part[i + n / 2]);
    float lanes[part_lanes];
    hn::StoreU(v.part[0], Tag16(), lanes);
    if constexpr (part_lanes > 1) {
        // In memory: reductions end a row of work, and the compiler keeps this in registers.
        for (std::size_t n = part_lanes / 2; n > 0; n /= 2)
            for (std::size_t i = 0; i < n; ++i) {
                const hn::CappedTag<float, 1> one;
                lanes[i] = hn::GetLane(op(hn::Set(one, lanes[i]), hn::Set(one, lanes[i + n])));
            }
    }
    return lanes[0];
}

struct AddLanes {
    template <class V>
    HWY_INLINE V operator()(V a, V b) const {
        return hn::Add(a, b);
    }
};
struct MaxLanes {  // a NaN in b is taken, one in a is lost: seed with a number, test NaNs apart
    template <class V>
    HWY_INLINE V operator()(V a, V b) const {
        return hn::IfThenElse(hn::Gt(a, b), a, b);
    }
};

HWY_INLINE float Sum16(const F16& v) { return Fold16(v, AddLanes()); }
HWY_INLINE float Max16(const F16& v) { return Fold16(v, MaxLanes()); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
