// The products of attention_products-inl.h in f32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_products.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_products-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int NK, int NV>
HWY_INLINE void DotsBlock(const float* const* HWY_RESTRICT x, std::int64_t depth,
                          const float* HWY_RESTRICT q, std::int64_t stride, float* HWY_RESTRICT s) {
    const FloatTag d;
    FloatVec acc[NK][NV];
    const float* row[NK];
    for (int k = 0; k < NK; ++k) {
        row[k] = x[k];
        for (int n = 0; n < NV; ++n) acc[k][n] = hn::Zero(d);
    }
    for (std::int64_t e = 0; e < depth; ++e) {
        FloatVec at[NV];
        for (int n = 0; n < NV; ++n) at[n] = hn::Load(d, q + e * stride + n * kLanes);
        for (int k = 0; k < NK; ++k) {
            const FloatVec b = hn::Set(d, row[k][e]);
            for (int n = 0; n < NV; ++n) acc[k][n] = Fma(b, at[n], acc[k][n]);
        }
    }
    for (int k = 0; k < NK; ++k)
        for (int n = 0; n < NV; ++n) hn::Store(acc[k][n], d, s + k * stride + n * kLanes);
}

template <int NV>
HWY_INLINE void DotsColumns(const float* const* x, int begin, int end, std::int64_t depth,
                            const float* q, std::int64_t stride, float* s) {
    constexpr int nk = kManyRegisters || NV == 1 ? 8 : 4;
    int j = begin;
    for (; j + nk <= end; j += nk) DotsBlock<nk, NV>(x + j, depth, q, stride, s + j * stride);
    for (; j + 2 <= end; j += 2) DotsBlock<2, NV>(x + j, depth, q, stride, s + j * stride);
    if (j < end) DotsBlock<1, NV>(x + j, depth, q, stride, s + j * stride);
}

void Dots(const float* const* x, int begin, int end, std::int64_t depth, const float* q,
          std::int64_t stride, int vectors, float* s) {
    for (int n = 0; n < vectors; n += 3, q += 3 * kLanes, s += 3 * kLanes) {
        if (vectors - n >= 3) DotsColumns<3>(x, begin, end, depth, q, stride, s);
        if (vectors - n == 2) DotsColumns<2>(x, begin, end, depth, q, stride, s);
        if (vectors - n == 1) DotsColumns<1>(x, begin, end, depth, q, stride, s);
    }
}

template <bool Careful, int NC, int NV>
HWY_INLINE void MixBlock(const float* const* HWY_RESTRICT x, int begin, int end, std::int64_t c,
                         const float* HWY_RESTRICT p, std::int64_t stride, Found found,
                         const float* HWY_RESTRICT alpha, float* HWY_RESTRICT o) {
    const FloatTag d;
    FloatVec acc[NC][NV];
    for (int i = 0; i < NC; ++i)
        for (int n = 0; n < NV; ++n) {
            acc[i][n] =
                found == Found::nothing ? hn::Zero(d) : hn::Load(d, o + i * stride + n * kLanes);
            if (found == Found::sum_to_scale)
                acc[i][n] = hn::Mul(acc[i][n], hn::Load(d, alpha + n * kLanes));
        }
    for (int j = begin; j < end; ++j) {
        const float* row = x[j] + c;
        FloatVec w[NV];
        for (int n = 0; n < NV; ++n) w[n] = hn::Load(d, p + j * stride + n * kLanes);
        for (int i = 0; i < NC; ++i) {
            const FloatVec b = hn::Set(d, row[i]);
            for (int n = 0; n < NV; ++n) acc[i][n] = FmaUnlessZero<Careful>(w[n], b, acc[i][n]);
        }
    }
    for (int i = 0; i < NC; ++i)
        for (int n = 0; n < NV; ++n) hn::Store(acc[i][n], d, o + i * stride + n * kLanes);
}

template <bool Careful, int NV>
HWY_INLINE void MixColumns(const float* const* x, int begin, int end, std::int64_t width,
                           const float* p, std::int64_t stride, Found found, const float* alpha,
                           float* o) {
    constexpr int nc = kManyRegisters || NV == 1 ? 8 : 4;
    std::int64_t c = 0;
    for (; c + nc <= width; c += nc)
        MixBlock<Careful, nc, NV>(x, begin, end, c, p, stride, found, alpha, o + c * stride);
    for (; c < width; ++c)
        MixBlock<Careful, 1, NV>(x, begin, end, c, p, stride, found, alpha, o + c * stride);
}

template <bool Careful>
void Mix(const float* const* x, int begin, int end, std::int64_t width, const float* p,
         std::int64_t stride, Found found, const float* alpha, int vectors, float* o) {
    for (int n = 0; n < vectors; n += 3) {
        const int at = n * kLanes;
        const float *pn = p + at, *an = alpha ? alpha + at : nullptr;
        if (vectors - n >= 3)
            MixColumns<Careful, 3>(x, begin, end, width, pn, stride, found, an, o + at);
        if (vectors - n == 2)
            MixColumns<Careful, 2>(x, begin, end, width, pn, stride, found, an, o + at);
        if (vectors - n == 1)
            MixColumns<Careful, 1>(x, begin, end, width, pn, stride, found, an, o + at);
    }
}

template <bool Careful, int NJ, int NC>
HWY_INLINE void OuterBlock(const float* HWY_RESTRICT p, std::int64_t stride, int count,
                           const float* HWY_RESTRICT z, std::int64_t z_stride,
                           float* HWY_RESTRICT y, std::int64_t y_stride) {
    const FloatTag d;
    FloatVec acc[NJ][NC];
    for (int j = 0; j < NJ; ++j)
        for (int n = 0; n < NC; ++n) acc[j][n] = hn::Load(d, y + j * y_stride + n * kLanes);
    for (int q = 0; q < count; ++q) {
        FloatVec at[NC];
        for (int n = 0; n < NC; ++n) at[n] = hn::LoadU(d, z + q * z_stride + n * kLanes);
        for (int j = 0; j < NJ; ++j) {
            const FloatVec b = hn::Set(d, p[j * stride + q]);
            for (int n = 0; n < NC; ++n) acc[j][n] = FmaUnlessZero<Careful>(b, at[n], acc[j][n]);
        }
    }
    for (int j = 0; j < NJ; ++j)
        for (int n = 0; n < NC; ++n) hn::Store(acc[j][n], d, y + j * y_stride + n * kLanes);
}

template <bool Careful, int NC>
HWY_INLINE void OuterColumns(const float* p, std::int64_t stride, int keys, int count,
                             const float* z, std::int64_t z_stride, float* y,
                             std::int64_t y_stride) {
    constexpr int nj = kManyRegisters || NC == 2 ? 6 : 3;
    int j = 0;
    for (; j + nj <= keys; j += nj)
        OuterBlock<Careful, nj, NC>(p + j * stride, stride, count, z, z_stride, y + j * y_stride,
                                    y_stride);
    for (; j < keys; ++j)
        OuterBlock<Careful, 1, NC>(p + j * stride, stride, count, z, z_stride, y + j * y_stride,
                                   y_stride);
}

template <bool Careful>
void Outer(const float* p, std::int64_t stride, int keys, int count, const float* z,
           std::int64_t z_stride, std::int64_t width, float* y, std::int64_t y_stride) {
    constexpr int nc = kManyRegisters ? 4 : 2;
    std::int64_t c = 0;
    for (; c + nc * kLanes <= width; c += nc * kLanes)
        OuterColumns<Careful, nc>(p, stride, keys, count, z + c, z_stride, y + c, y_stride);
    for (; c < width; c += kLanes)
        OuterColumns<Careful, 1>(p, stride, keys, count, z + c, z_stride, y + c, y_stride);
}

template <bool Careful>
void MixOneRow(const float* const* x, int begin, int end, std::int64_t width, const float* p,
               std::int64_t stride, float alpha, float* o) {
    const FloatTag d;
    const FloatVec a = hn::Set(d, alpha);
    std::int64_t c = 0;
    for (; c + 4 * kLanes <= width; c += 4 * kLanes) {
        FloatVec acc[4];
        for (int n = 0; n < 4; ++n) acc[n] = hn::Mul(a, hn::LoadU(d, o + c + n * kLanes));
        for (int j = begin; j < end; ++j) {
            const FloatVec w = hn::Set(d, p[j * stride]);
            for (int n = 0; n < 4; ++n)
                acc[n] = FmaUnlessZero<Careful>(w, hn::LoadU(d, x[j] + c + n * kLanes), acc[n]);
        }
        for (int n = 0; n < 4; ++n) hn::StoreU(acc[n], d, o + c + n * kLanes);
    }
    for (; c < width; c += kLanes) {
        const std::int64_t here = HWY_MIN(width - c, kLanes);
        FloatVec acc = hn::Mul(a, LoadSome(d, o + c, here));
        for (int j = begin; j < end; ++j)
            acc =
                FmaUnlessZero<Careful>(hn::Set(d, p[j * stride]), LoadSome(d, x[j] + c, here), acc);
        StoreSome(acc, d, o + c, here);
    }
}

template void Mix<false>(const float* const*, int, int, std::int64_t, const float*, std::int64_t,
                         Found, const float*, int, float*);
template void Mix<true>(const float* const*, int, int, std::int64_t, const float*, std::int64_t,
                        Found, const float*, int, float*);
template void Outer<false>(const float*, std::int64_t, int, int, const float*, std::int64_t,
                           std::int64_t, float*, std::int64_t);
template void Outer<true>(const float*, std::int64_t, int, int, const float*, std::int64_t,
                          std::int64_t, float*, std::int64_t);
template void MixOneRow<false>(const float* const*, int, int, std::int64_t, const float*,
                               std::int64_t, float, float*);
template void MixOneRow<true>(const float* const*, int, int, std::int64_t, const float*,
                              std::int64_t, float, float*);

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
