// One pass over dense arrays: y[i] = f(a[i], b[i], …) on vectors. f is a struct with an inline
// operator() template (a lambda would not get the level's instructions); it sees every lane alone,
// so that the bits depend neither on the level nor on where a chunk begins.
// Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_MAP_INL_H_
#undef FOVEA_KERNELS_MAP_INL_H_
#else
#define FOVEA_KERNELS_MAP_INL_H_
#endif

#include <cstdint>

#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// y may be one of the inputs (y += … reads it as one).
template <class F, class... In>
HWY_INLINE void Map(std::int64_t n, float* y, const F& f, const In*... in) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        const auto first = f(d, hn::LoadU(d, in + i)...);
        const auto second = f(d, hn::LoadU(d, in + i + lanes)...);
        hn::StoreU(first, d, y + i);
        hn::StoreU(second, d, y + i + lanes);
    }
    for (; i < n; i += lanes) {
        const std::int64_t here = HWY_MIN(n - i, lanes);
        StoreSome(f(d, LoadSome(d, in + i, here)...), d, y + i, here);
    }
}

// y = f(…), or y += f(…).
template <class F>
struct PlusOld {
    const F& f;
    template <class D, class V, class... W>
    HWY_INLINE V operator()(D d, V old, W... in) const {
        return hn::Add(old, f(d, in...));
    }
};
template <class F, class... In>
HWY_INLINE void MapInto(bool accumulate, std::int64_t n, float* y, const F& f, const In*... in) {
    if (accumulate) {
        Map(n, y, PlusOld<F>{f}, y, in...);
    } else {
        Map(n, y, f, in...);
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
