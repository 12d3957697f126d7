// Sums of exponentials of a row, shared by softmax and the losses. Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_SOFTMAX_INL_H_
#undef FOVEA_KERNELS_SOFTMAX_INL_H_
#else
#define FOVEA_KERNELS_SOFTMAX_INL_H_
#endif

#include <cstdint>
#include <limits>

#include "fovea/kernels/rows/rows-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

HWY_INLINE float LogOne(float x) {
    const hn::CappedTag<float, 1> one;
    return hn::GetLane(Log(one, hn::Set(one, x)));
}

struct ExpSum {
    F16 exps, rests;
    HWY_INLINE ExpSum() : exps(Zero16()), rests(Zero16()) {}
    // Adds e^(x − largest) to `exps`, x − largest to `rests`.
    HWY_INLINE void Add(const F16& x, const F16& largest) {
        const F16 c = Map16(SubLanes(), x, largest);
        AddExp(c);
        rests = Add16(rests, c);
    }
    HWY_INLINE void AddExp(const F16& c) {
        for (std::size_t i = 0; i < parts16; ++i)
            exps.part[i] = hn::Add(exps.part[i], ExpNotPositive(Tag16(), c.part[i]));
    }
};

// The largest value of a row; sum = Σ e^(x − largest), rest = Σ (x − largest) over n >= 1 values.
HWY_INLINE float ExpSums(const float* x, std::int64_t n, float& sum, float& rest) {
    const float top = MaxOver(x, n);
    const F16 largest = Set16(top);
    ExpSum even, odd;
    std::int64_t j = 0;
    for (; j + 32 <= n; j += 32) {
        PrefetchLine(x + n + j);  // of the next row
        PrefetchLine(x + n + j + 16);
        even.Add(Load16(x + j), largest);
        odd.Add(Load16(x + j + 16), largest);
    }
    if (j + 16 <= n) {
        even.Add(Load16(x + j), largest);
        j += 16;
    }
    if (j < n) {  // what lies beyond the row: e^−∞ for one sum, 0 for the other
        const F16 rests = Map16(SubLanes(), LoadSome16(x + j, n - j, top), largest);
        odd.rests = Add16(odd.rests, rests);
        odd.AddExp(Map16(SubLanes(),
                         LoadSome16(x + j, n - j, -std::numeric_limits<float>::infinity()),
                         largest));
    }
    sum = Sum16(Add16(even.exps, odd.exps));
    rest = Sum16(Add16(even.rests, odd.rests));
    return top;
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
