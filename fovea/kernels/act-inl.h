// Activations on vectors, forward and derivative, so that a product that takes one along and an op
// that applies it alone give the same bits. Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_ACT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ACT_INL_H_
#undef FOVEA_KERNELS_ACT_INL_H_
#else
#define FOVEA_KERNELS_ACT_INL_H_
#endif

#include "fovea/base/act.h"
#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// An even function as a polynomial of degree 15 in x², |x| <= 5.5 (in t = x² · 2 / 5.5² − 1, where
// the coefficients are small and Horner loses nothing). Lowest coefficient first.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V EvenPolynomial(D d, V x, const float (&c)[16]) {
    const V t = Fma(hn::Mul(x, x), hn::Set(d, 0.0661157025f), hn::Set(d, -1.0f));
    V q = hn::Set(d, c[15]);
    for (int i = 14; i >= 0; --i) q = Fma(q, t, hn::Set(d, c[i]));
    return q;
}

// Minimax fits for gelu, half the work of going through erf (and exp). Largest errors in f32 over
// all x: 6e-7 of x Φ(x) (one ulp at 5.5), 6e-7 of its slope.
//   Φ(x) = ½ + x p(x²)               Φ(x) + x φ(x) = ½ + x q(x²)
inline constexpr float gelu_value[16] = {
    1.285519302e-01f, -6.417234242e-02f, 4.773744941e-02f, -3.879241273e-02f,
    3.207371756e-02f, -2.605386823e-02f, 2.033962123e-02f, -1.496374793e-02f,
    1.031211857e-02f, -6.929959171e-03f, 4.477513488e-03f, -2.240178874e-03f,
    8.411568706e-04f, -6.733053597e-04f, 5.920470576e-04f, -1.906547695e-04f};
inline constexpr float gelu_slope[16] = {
    1.287591755e-01f, -6.574013829e-02f, 5.367087200e-02f, -5.372582376e-02f,
    6.018722802e-02f, -6.885715574e-02f, 7.533518970e-02f, -7.291946560e-02f,
    6.065641344e-02f, -5.308616161e-02f, 4.956647009e-02f, -2.782357484e-02f,
    4.100691993e-03f, -6.424942054e-03f, 1.212025248e-02f, -4.909856245e-03f};

// y = act(x)
template <Act act, class D, class V = hn::Vec<D>>
HWY_INLINE V Activate(D d, V x) {
    const V one = hn::Set(d, 1.0f);
    if constexpr (act == Act::relu) {
        return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);  // a NaN stays one
    } else if constexpr (act == Act::gelu) {
        const V phi = Fma(x, EvenPolynomial(d, x, gelu_value), hn::Set(d, 0.5f));
        const V inside =
            hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -5.5f)), hn::Mul(x, phi));  // -1e-7 there
        return hn::IfThenElse(hn::Gt(x, hn::Set(d, 5.5f)), x, inside);
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
        const V inside = Fma(x, EvenPolynomial(d, x, gelu_slope), hn::Set(d, 0.5f));
        return hn::IfThenElse(hn::Gt(x, hn::Set(d, 5.5f)), one,
                              hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -5.5f)), inside));
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
