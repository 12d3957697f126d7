// Sums over a row on sixteen virtual lanes, in two chains (an addition waits four cycles for the
// one before): element i goes to chain (i / 16) mod 2, lane i mod 16. One order on every level.
// Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ROWS_INL_H_
#undef FOVEA_KERNELS_ROWS_INL_H_
#else
#define FOVEA_KERNELS_ROWS_INL_H_
#endif

#include <cstdint>

#include "fovea/kernels/simd_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct SubLanes {
    template <class V>
    HWY_INLINE V operator()(V a, V b) const {
        return hn::Sub(a, b);
    }
};

// Asks for the row that comes next, while this one is worked on: a row that is read several times
// has its first pass wait for memory, and the others leave it idle. Never faults.
HWY_INLINE void PrefetchLine(const float* p) {
#if defined(__GNUC__)
    __builtin_prefetch(p, 0, 2);
#endif
}

// Calls f(x[i … i+15], first, second) for the whole row, where f adds to both; what lies beyond the
// row counts as `rest`, which must add nothing. The sums of both are the result. `next`: the row
// after this one.
template <class F>
HWY_INLINE void SumOverTwo(const float* x, std::int64_t n, const F& f, float rest,
                           const float* next, float& first, float& second) {
    F16 first0 = Zero16(), first1 = Zero16(), second0 = Zero16(), second1 = Zero16();
    std::int64_t j = 0;
    for (; j + 32 <= n; j += 32) {
        PrefetchLine(next + j);
        PrefetchLine(next + j + 16);
        f(Load16(x + j), first0, second0);
        f(Load16(x + j + 16), first1, second1);
    }
    if (j + 16 <= n) {
        f(Load16(x + j), first0, second0);
        j += 16;
        if (j < n) f(LoadSome16(x + j, n - j, rest), first1, second1);
    } else if (j < n) {
        f(LoadSome16(x + j, n - j, rest), first0, second0);
    }
    first = Sum16(Add16(first0, first1));
    second = Sum16(Add16(second0, second1));
}

// Σ f(x), where f(0) = 0.
template <class F>
HWY_INLINE float SumOver(const float* x, std::int64_t n, const F& f) {
    F16 even = Zero16(), odd = Zero16();
    std::int64_t j = 0;
    for (; j + 32 <= n; j += 32) {
        even = Add16(even, f(Load16(x + j)));
        odd = Add16(odd, f(Load16(x + j + 16)));
    }
    if (j + 16 <= n) {
        even = Add16(even, f(Load16(x + j)));
        j += 16;
        if (j < n) odd = Add16(odd, f(LoadSome16(x + j, n - j)));
    } else if (j < n) {
        even = Add16(even, f(LoadSome16(x + j, n - j)));
    }
    return Sum16(Add16(even, odd));
}

// The largest value of a row of at least one.
HWY_INLINE float MaxOver(const float* x, std::int64_t n) {
    F16 even = Set16(x[0]), odd = even;
    std::int64_t j = 0;
    for (; j + 32 <= n; j += 32) {
        even = Map16(MaxLanes(), even, Load16(x + j));
        odd = Map16(MaxLanes(), odd, Load16(x + j + 16));
    }
    for (; j < n; j += 16)
        even =
            Map16(MaxLanes(), even, n - j >= 16 ? Load16(x + j) : LoadSome16(x + j, n - j, x[0]));
    return Max16(Map16(MaxLanes(), even, odd));
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
