// Activations on vectors, forward and derivative, so that a product that takes one along and an op
// that applies it alone give the same bits. Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_ACT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ACT_INL_H_
#undef FOVEA_KERNELS_ACT_INL_H_
#else
#define FOVEA_KERNELS_ACT_INL_H_
#endif

#include "fovea/kernels/act.h"
#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// y = act(x)
template <Act act, class D, class V = hn::Vec<D>>
HWY_INLINE V Activate(D d, V x) {
    const V one = hn::Set(d, 1.0f);
    if constexpr (act == Act::relu) {
        return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);  // a NaN stays one
    } else if constexpr (act == Act::gelu) {
        const V half_x = hn::Mul(x, hn::Set(d, 0.5f));
        return Fma(half_x, Erf(d, hn::Mul(x, hn::Set(d, 0.70710678f))), half_x);
    } else if constexpr (act == Act::gelu_tanh) {
        // (1 + tanh u) / 2 = σ(2u); 2 √(2/π) = 1.595769…
        const V cubic = Fma(hn::Mul(x, hn::Set(d, 0.044715f)), hn::Mul(x, x), x);
        return hn::Mul(x, Sigmoid(d, hn::Mul(cubic, hn::Set(d, 1.59576912f))));
    } else if constexpr (act == Act::tanh) {
        return Tanh(d, x);
    } else if constexpr (act == Act::swish) {
        return hn::Mul(x, Sigmoid(d, x));
    } else {
        (void)one;
        return x;
    }
}

// act'(x), from x before the activation.
template <Act act, class D, class V = hn::Vec<D>>
HWY_INLINE V ActDerivative(D d, V x) {
    const V one = hn::Set(d, 1.0f);
    if constexpr (act == Act::relu) {
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), one, hn::Zero(d));
    } else if constexpr (act == Act::gelu) {
        // Φ(x) + x φ(x)
        const V half = hn::Set(d, 0.5f);
        const V phi = hn::Mul(Exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f))),
                              hn::Set(d, 0.398942280f));  // 1 / √(2π)
        return Fma(x, phi, Fma(half, Erf(d, hn::Mul(x, hn::Set(d, 0.70710678f))), half));
    } else if constexpr (act == Act::gelu_tanh) {
        // y = x σ(v), v = c (x + 0.044715 x³): σ + x σ (1 - σ) c (1 + 3 · 0.044715 x²)
        const V c = hn::Set(d, 1.59576912f), x2 = hn::Mul(x, x);
        const V cubic = Fma(hn::Mul(x, hn::Set(d, 0.044715f)), x2, x);
        const V s = Sigmoid(d, hn::Mul(cubic, c));
        const V slope = hn::Mul(c, Fma(x2, hn::Set(d, 0.134145f), one));
        // Where σ is 0 or 1 the slope may be ∞ · 0: past |x| = 20 the second part is 0.
        const V second =
            hn::IfThenElseZero(hn::Lt(hn::Abs(x), hn::Set(d, 20.0f)),
                               hn::Mul(hn::Mul(x, slope), hn::Mul(s, hn::Sub(one, s))));
        return hn::Add(s, second);
    } else if constexpr (act == Act::tanh) {
        const V t = Tanh(d, x);
        return NegFma(t, t, one);
    } else if constexpr (act == Act::swish) {
        // σ (1 + x (1 - σ)); written so that -∞ and +∞ stay finite
        const V s = Sigmoid(d, x);
        const V second = hn::IfThenElseZero(hn::Lt(hn::Abs(x), hn::Set(d, 100.0f)),
                                            hn::Mul(hn::Mul(x, s), hn::Sub(one, s)));
        return hn::Add(s, second);
    } else {
        (void)x;
        return one;
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
