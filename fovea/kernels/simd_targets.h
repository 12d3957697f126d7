// Included before hwy/foreach_target.h by every kernel written with Highway: the levels we compile
// for (scalar, AVX2, AVX-512; NEON on ARM) and the dispatch that obeys FOVEA_ISA. A kernel file:
//
//     #include "fovea/kernels/scale.h"                       // void scale(float* x, int64_t n,
//     float by)
//
//     #undef HWY_TARGET_INCLUDE
//     #define HWY_TARGET_INCLUDE "fovea/kernels/scale.cpp"   // this very file
//     #include "fovea/kernels/simd_targets.h"                // before foreach_target.h
//
//     #include "hwy/foreach_target.h"                        // compiles the file once per level
//
//     #include "hwy/highway.h"
//
//     #include "fovea/kernels/simd_math-inl.h"               // Fma, Exp, Sum16, … if needed
//
//     HWY_BEFORE_NAMESPACE();
//     namespace fovea::kernels::HWY_NAMESPACE {
//     namespace hn = hwy::HWY_NAMESPACE;
//
//     void scale_piece(float* x, std::int64_t n, float by) {
//         const hn::ScalableTag<float> d;
//         const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
//         const auto factor = hn::Set(d, by);
//         std::int64_t i = 0;
//         for (; i + lanes <= n; i += lanes)
//             hn::StoreU(hn::Mul(hn::LoadU(d, x + i), factor), d, x + i);
//         if (i < n) StoreSome(hn::Mul(LoadSome(d, x + i, n - i), factor), d, x + i, n - i);
//     }
//
//     }  // namespace fovea::kernels::HWY_NAMESPACE
//     HWY_AFTER_NAMESPACE();
//
//     #if HWY_ONCE
//     namespace fovea::kernels {
//     HWY_EXPORT(scale_piece);
//
//     void scale(float* x, std::int64_t n, float by) {
//         const auto piece = FOVEA_DISPATCH(scale_piece);     // look up once, outside the loop
//         parallel_for(n, 1 << 14, [&](std::int64_t b, std::int64_t e) { piece(x + b, e - b, by);
//         });
//     }
//     }  // namespace fovea::kernels
//     #endif
//
// Rules: everything between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE must be in the
// HWY_NAMESPACE (a template or inline function shared between levels would be compiled for one of
// them and run by all). Lambdas handed to parallel_for belong after HWY_ONCE: GCC does not give a
// lambda its function's target. hn::MulAdd is not fused at the scalar level: use Fma.
#ifndef FOVEA_KERNELS_SIMD_TARGETS_H_
#define FOVEA_KERNELS_SIMD_TARGETS_H_
// Two levels between are dropped (3 s of compile time a file); AVX3_DL adds nothing we use.
#ifndef HWY_DISABLED_TARGETS  // SVE: our kernels keep vectors in arrays, which its types forbid
#define HWY_DISABLED_TARGETS \
    (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
// The scalar level is one lane on every compiler (GCC 12.2 miscompiles Highway's EMU128).
#ifndef HWY_BROKEN_EMU128
#define HWY_BROKEN_EMU128 1
#endif

#include "fovea/kernels/isa.h"

// The function of the active level, to be called or kept.
#define FOVEA_DISPATCH(function) (::fovea::kernels::settle_isa(), &HWY_DYNAMIC_DISPATCH(function))

#endif
