// The packing of attention_layout-inl.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_layout.cpp"
#include "fovea/kernels/simd_targets.h"

#include <algorithm>

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_layout-inl.h"
#include "fovea/kernels/bf16-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using QuadTag = hn::CappedTag<float, 4>;
using Quad = hn::Vec<QuadTag>;

HWY_INLINE void Transpose4(Quad& a, Quad& b, Quad& c, Quad& e) {
    const QuadTag d;
    const Quad ab0 = hn::InterleaveLower(d, a, b), ab1 = hn::InterleaveUpper(d, a, b);
    const Quad ce0 = hn::InterleaveLower(d, c, e), ce1 = hn::InterleaveUpper(d, c, e);
    a = hn::ConcatLowerLower(d, ce0, ab0);
    b = hn::ConcatUpperUpper(d, ce0, ab0);
    c = hn::ConcatLowerLower(d, ce1, ab1);
    e = hn::ConcatUpperUpper(d, ce1, ab1);
}
#endif

void PackColumns(ConstView x, const float* plus, int vectors, std::int64_t stride,
                 float* HWY_RESTRICT t) {
    const std::int64_t width = x.cols, padded = vectors * kLanes;
    std::int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
    const QuadTag d;
    for (; r + 4 <= x.rows; r += 4) {
        std::int64_t e = 0;
        for (; e + 4 <= width; e += 4) {
            Quad a = hn::LoadU(d, x.row(r) + e), b = hn::LoadU(d, x.row(r + 1) + e);
            Quad c = hn::LoadU(d, x.row(r + 2) + e), f = hn::LoadU(d, x.row(r + 3) + e);
            if (plus) {
                const Quad by = hn::LoadU(d, plus + e);
                a = hn::Add(a, by), b = hn::Add(b, by), c = hn::Add(c, by), f = hn::Add(f, by);
            }
            Transpose4(a, b, c, f);
            hn::StoreU(a, d, t + e * stride + r);
            hn::StoreU(b, d, t + (e + 1) * stride + r);
            hn::StoreU(c, d, t + (e + 2) * stride + r);
            hn::StoreU(f, d, t + (e + 3) * stride + r);
        }
        for (; e < width; ++e)
            for (int i = 0; i < 4; ++i)
                t[e * stride + r + i] = x.row(r + i)[e] + (plus ? plus[e] : 0.0f);
    }
#endif
    for (; r < x.rows; ++r)
        for (std::int64_t e = 0; e < width; ++e)
            t[e * stride + r] = x.row(r)[e] + (plus ? plus[e] : 0.0f);
    if (r == padded) return;
    for (std::int64_t e = 0; e < width; ++e)
        for (std::int64_t i = r; i < padded; ++i) t[e * stride + i] = 0.0f;
}

void UnpackColumns(const float* HWY_RESTRICT t, std::int64_t stride, View y, bool add) {
    std::int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
    const QuadTag d;
    for (; r + 4 <= y.rows; r += 4) {
        std::int64_t c = 0;
        for (; c + 4 <= y.cols; c += 4) {
            Quad v[4];
            for (int i = 0; i < 4; ++i) v[i] = hn::LoadU(d, t + (c + i) * stride + r);
            Transpose4(v[0], v[1], v[2], v[3]);
            for (int i = 0; i < 4; ++i) {
                float* to = y.row(r + i) + c;
                hn::StoreU(add ? hn::Add(hn::LoadU(d, to), v[i]) : v[i], d, to);
            }
        }
        for (; c < y.cols; ++c)
            for (int i = 0; i < 4; ++i) {
                float* to = y.row(r + i) + c;
                *to = add ? *to + t[c * stride + r + i] : t[c * stride + r + i];
            }
    }
#endif
    for (; r < y.rows; ++r)
        for (std::int64_t c = 0; c < y.cols; ++c) {
            float* to = y.row(r) + c;
            *to = add ? *to + t[c * stride + r] : t[c * stride + r];
        }
}

void PackRow(const float* HWY_RESTRICT from, std::int64_t n, std::int64_t width,
             float* HWY_RESTRICT to) {
    const FloatTag d;
    std::int64_t e = 0;
    for (; e + kLanes <= n; e += kLanes) hn::StoreU(hn::LoadU(d, from + e), d, to + e);
    for (; e < n; ++e) to[e] = from[e];
    for (; e < width; ++e) to[e] = 0.0f;
}

void PairRows(const float* low, const float* high, std::int64_t n, std::uint32_t* to) {
    const FloatTag d;
    const hn::RebindToUnsigned<FloatTag> du;
    for (std::int64_t i = 0; i < n; i += kLanes) {
        const FloatVec a = low ? hn::LoadU(d, low + i) : hn::Zero(d);
        const FloatVec b = high ? hn::LoadU(d, high + i) : hn::Zero(d);
        hn::StoreU(hn::Or(hn::ShiftRight<16>(Bf16Bits(d, a)), Bf16Bits(d, b)), du, to + i);
    }
}

void PairRowsPadded(const float* low, const float* high, std::int64_t n, std::int64_t width,
                    std::uint32_t* to) {
    const std::int64_t whole = n / 16 * 16;
    PairRows(low, high, whole, to);
    for (std::int64_t i = whole; i < n; ++i)
        to[i] = std::uint32_t{low ? to_bf16(low[i]) : Bf16{0}} |
                std::uint32_t{high ? to_bf16(high[i]) : Bf16{0}} << 16;
    for (std::int64_t i = n; i < width; ++i) to[i] = 0;
}

// The bits of x rounded to bf16 in the upper half of each lane, the lower half not cleared. Weights
// come out of arithmetic: never denormal, and their NaNs have payloads that the carry leaves alone
// (or make the row's sum NaN as well).
HWY_INLINE hn::Vec<hn::RebindToUnsigned<FloatTag>> RoundWeight(FloatVec x) {
    const hn::RebindToUnsigned<FloatTag> du;
    const auto bits = hn::BitCast(du, x);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    return hn::Add(hn::Add(bits, hn::Set(du, 0x7fffu)), odd);
}

void WeightPairs(const float* p, std::int64_t stride, int begin, int end, int first, int last,
                 int lanes, std::uint32_t* to) {
    const FloatTag d;
    const hn::RebindToUnsigned<FloatTag> du;
    const auto upper = hn::Set(du, 0xffff0000u);
    for (int j = first; j < last; j += 2) {
        const bool low = j >= begin && j < end, high = j + 1 >= begin && j + 1 < end;
        std::uint32_t* row = to + j / 2 * stride;
        for (std::int64_t n = 0; n < lanes; n += kLanes) {
            const auto a = low ? RoundWeight(hn::Load(d, p + j * stride + n)) : hn::Zero(du);
            const auto b = high ? RoundWeight(hn::Load(d, p + (j + 1) * stride + n)) : hn::Zero(du);
            hn::Store(hn::Or(hn::ShiftRight<16>(a), hn::And(b, upper)), du, row + n);
        }
        std::fill_n(row + lanes, stride - lanes, 0u);
    }
}

void WeightRows(const float* p, std::int64_t stride, int begin, int end, int first, int last,
                int lanes, Bf16* to) {
    for (int j = first; j < last; ++j) {
        Bf16* row = to + j * stride;
        int n = 0;
        if (j >= begin && j < end) {
            const FloatTag d;
#if HWY_TARGET != HWY_SCALAR
            const hn::Repartition<std::uint16_t, FloatTag> d16;
            for (; n + 2 * kLanes <= lanes; n += 2 * kLanes) {
                const auto a = RoundWeight(hn::Load(d, p + j * stride + n));
                const auto b = RoundWeight(hn::Load(d, p + j * stride + n + kLanes));
                hn::StoreU(hn::ConcatOdd(d16, hn::BitCast(d16, b), hn::BitCast(d16, a)), d16,
                           row + n);
            }
#endif
            for (; n < lanes; n += kLanes) {
                HWY_ALIGN std::uint32_t word[kLanes];
                hn::Store(RoundWeight(hn::Load(d, p + j * stride + n)),
                          hn::RebindToUnsigned<FloatTag>(), word);
                for (int i = 0; i < kLanes; ++i) row[n + i] = static_cast<Bf16>(word[i] >> 16);
            }
        }
        std::fill_n(row + n, stride - n, Bf16{0});
    }
}

bool AllFinite(ConstView x) {
    const FloatTag d;
    FloatVec sum = hn::Zero(d);
    for (std::int64_t i = 0; i < x.rows; ++i) {
        std::int64_t e = 0;
        for (; e + kLanes <= x.cols; e += kLanes)
            sum = Fma(hn::LoadU(d, x.row(i) + e), hn::Zero(d), sum);
        if (e < x.cols) sum = Fma(LoadSome(d, x.row(i) + e, x.cols - e), hn::Zero(d), sum);
    }
    return hn::AllTrue(d, hn::Eq(sum, hn::Zero(d)));
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
