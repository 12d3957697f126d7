// Rows of a packed tensor to tiles whose lanes are rows, and back.
#if defined(FOVEA_KERNELS_ATTENTION_LAYOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_ATTENTION_LAYOUT_INL_H_
#undef FOVEA_KERNELS_ATTENTION_LAYOUT_INL_H_
#else
#define FOVEA_KERNELS_ATTENTION_LAYOUT_INL_H_
#endif

#include <cstdint>

#include "fovea/base/view.h"
#include "fovea/kernels/attention_products-inl.h"
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

// t[e][r] = rows[r][e] (+ plus[e]) for r < x.rows, e < x.cols; lanes behind, up to `vectors`, are
// 0.
inline void PackColumns(ConstView x, const float* plus, int vectors, std::int64_t stride,
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

// y[r][c] = t[c][r], or += .
inline void UnpackColumns(const float* HWY_RESTRICT t, std::int64_t stride, View y, bool add) {
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

// Rows side by side without the gaps of the other heads (rows of d_model floats fall into the same
// few cache sets), padded by zeros to `width`.
inline void PackRow(const float* HWY_RESTRICT from, std::int64_t n, std::int64_t width,
                    float* HWY_RESTRICT to) {
    const FloatTag d;
    std::int64_t e = 0;
    for (; e + kLanes <= n; e += kLanes) hn::StoreU(hn::LoadU(d, from + e), d, to + e);
    for (; e < n; ++e) to[e] = from[e];
    for (; e < width; ++e) to[e] = 0.0f;
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
