// The products of attention_bf16-inl.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/attention/attention_bf16.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "fovea/kernels/attention/attention_bf16-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two chains each of A x B vectors.
template <int A, int B>
struct EvenOdd {
    FloatVec even[A][B], odd[A][B];
    HWY_INLINE void clear() {
        for (int a = 0; a < A; ++a)
            for (int b = 0; b < B; ++b) even[a][b] = odd[a][b] = hn::Zero(FloatTag());
    }
};

template <int NK, int NV>
HWY_INLINE void Bf16DotsBlock(const float* const* HWY_RESTRICT x, std::int64_t depth,
                              const float* HWY_RESTRICT q, std::int64_t stride,
                              float* HWY_RESTRICT s) {
    const FloatTag d;
    EvenOdd<NK, NV> acc;
    for (std::int64_t first = 0; first < depth; first += 32) {
        acc.clear();
        for (std::int64_t e = first; e < first + 32; e += 2) {
            FloatVec even[NV], odd[NV];
            for (int n = 0; n < NV; ++n) {
                even[n] = hn::Load(d, q + e * stride + n * kLanes);
                odd[n] = hn::Load(d, q + (e + 1) * stride + n * kLanes);
            }
            for (int k = 0; k < NK; ++k) {
                const FloatVec b0 = hn::Set(d, x[k][e]), b1 = hn::Set(d, x[k][e + 1]);
                for (int n = 0; n < NV; ++n) {
                    acc.even[k][n] = Fma(b0, even[n], acc.even[k][n]);
                    acc.odd[k][n] = Fma(b1, odd[n], acc.odd[k][n]);
                }
            }
        }
        for (int k = 0; k < NK; ++k)
            for (int n = 0; n < NV; ++n) {
                float* at = s + k * stride + n * kLanes;
                const FloatVec sum = hn::Add(acc.even[k][n], acc.odd[k][n]);
                hn::Store(hn::Add(first == 0 ? hn::Zero(d) : hn::Load(d, at), sum), d, at);
            }
    }
}

template <int NV>
HWY_INLINE void Bf16DotsColumns(const float* const* x, int begin, int end, std::int64_t depth,
                                const float* q, std::int64_t stride, float* s) {
    constexpr int nk = kManyRegisters ? 6 : 3;
    int j = begin;
    for (; j + nk <= end; j += nk) Bf16DotsBlock<nk, NV>(x + j, depth, q, stride, s + j * stride);
    for (; j < end; ++j) Bf16DotsBlock<1, NV>(x + j, depth, q, stride, s + j * stride);
}

void Bf16Dots(const float* const* x, int begin, int end, std::int64_t depth, const float* q,
              std::int64_t stride, int vectors, float* s) {
    int n = 0;
    for (; n + 2 <= vectors; n += 2)
        Bf16DotsColumns<2>(x, begin, end, depth, q + n * kLanes, stride, s + n * kLanes);
    if (n < vectors)
        Bf16DotsColumns<1>(x, begin, end, depth, q + n * kLanes, stride, s + n * kLanes);
}

template <bool Careful, int NC, int NV>
HWY_INLINE void Bf16MixBlock(const float* const* HWY_RESTRICT x, int begin, int end, std::int64_t c,
                             const float* HWY_RESTRICT p, std::int64_t stride, Found found,
                             const float* HWY_RESTRICT alpha, float* HWY_RESTRICT o) {
    const FloatTag d;
    EvenOdd<NC, NV> acc;
    for (int block = begin / 32 * 32; block < end; block += 32) {
        acc.clear();
        const int stop = HWY_MIN(end, block + 32);
        for (int j = HWY_MAX(begin, block); j < stop; ++j) {
            const float* row = x[j] + c;
            FloatVec w[NV];
            for (int n = 0; n < NV; ++n) w[n] = hn::Load(d, p + j * stride + n * kLanes);
            if (j % 2 == 0) {
                for (int i = 0; i < NC; ++i)
                    for (int n = 0; n < NV; ++n)
                        acc.even[i][n] =
                            FmaUnlessZero<Careful>(w[n], hn::Set(d, row[i]), acc.even[i][n]);
            } else {
                for (int i = 0; i < NC; ++i)
                    for (int n = 0; n < NV; ++n)
                        acc.odd[i][n] =
                            FmaUnlessZero<Careful>(w[n], hn::Set(d, row[i]), acc.odd[i][n]);
            }
        }
        for (int i = 0; i < NC; ++i)
            for (int n = 0; n < NV; ++n) {
                float* at = o + i * stride + n * kLanes;
                FloatVec sum = found == Found::nothing ? hn::Zero(d) : hn::Load(d, at);
                if (found == Found::sum_to_scale)
                    sum = hn::Mul(sum, hn::Load(d, alpha + n * kLanes));
                hn::Store(hn::Add(sum, hn::Add(acc.even[i][n], acc.odd[i][n])), d, at);
            }
        found = Found::sum;
    }
}

template <bool Careful, int NV>
HWY_INLINE void Bf16MixColumns(const float* const* x, int begin, int end, std::int64_t width,
                               const float* p, std::int64_t stride, Found found, const float* alpha,
                               float* o) {
    constexpr int nc = kManyRegisters ? 6 : 3;
    std::int64_t c = 0;
    for (; c + nc <= width; c += nc)
        Bf16MixBlock<Careful, nc, NV>(x, begin, end, c, p, stride, found, alpha, o + c * stride);
    for (; c < width; ++c)
        Bf16MixBlock<Careful, 1, NV>(x, begin, end, c, p, stride, found, alpha, o + c * stride);
}

template <bool Careful>
void Bf16Mix(const float* const* x, int begin, int end, std::int64_t width, const float* p,
             std::int64_t stride, Found found, const float* alpha, int vectors, float* o) {
    for (int n = 0; n < vectors; n += 2) {
        const int at = n * kLanes;
        const float *pn = p + at, *an = alpha ? alpha + at : nullptr;
        if (vectors - n >= 2)
            Bf16MixColumns<Careful, 2>(x, begin, end, width, pn, stride, found, an, o + at);
        else
            Bf16MixColumns<Careful, 1>(x, begin, end, width, pn, stride, found, an, o + at);
    }
}

template <bool Careful, int NJ, int NC>
HWY_INLINE void Bf16OuterBlock(const float* HWY_RESTRICT p, std::int64_t stride, int count,
                               const float* HWY_RESTRICT z, std::int64_t z_stride,
                               float* HWY_RESTRICT y, std::int64_t y_stride) {
    const FloatTag d;
    EvenOdd<NJ, NC> acc;
    acc.clear();
    for (int q = 0; q < count; ++q) {
        FloatVec at[NC];
        for (int n = 0; n < NC; ++n) at[n] = hn::LoadU(d, z + q * z_stride + n * kLanes);
        if (q % 2 == 0) {
            for (int j = 0; j < NJ; ++j)
                for (int n = 0; n < NC; ++n)
                    acc.even[j][n] = FmaUnlessZero<Careful>(hn::Set(d, p[j * stride + q]), at[n],
                                                            acc.even[j][n]);
        } else {
            for (int j = 0; j < NJ; ++j)
                for (int n = 0; n < NC; ++n)
                    acc.odd[j][n] =
                        FmaUnlessZero<Careful>(hn::Set(d, p[j * stride + q]), at[n], acc.odd[j][n]);
        }
    }
    for (int j = 0; j < NJ; ++j)
        for (int n = 0; n < NC; ++n) {
            float* at = y + j * y_stride + n * kLanes;
            const FloatVec sum = hn::Add(acc.even[j][n], acc.odd[j][n]);
            hn::Store(hn::Add(hn::Load(d, at), sum), d, at);
        }
}

template <bool Careful, int NC>
HWY_INLINE void Bf16OuterColumns(const float* p, std::int64_t stride, int keys, int count,
                                 const float* z, std::int64_t z_stride, float* y,
                                 std::int64_t y_stride) {
    constexpr int nj = kManyRegisters ? 6 : 3;
    int j = 0;
    for (; j + nj <= keys; j += nj)
        Bf16OuterBlock<Careful, nj, NC>(p + j * stride, stride, count, z, z_stride,
                                        y + j * y_stride, y_stride);
    for (; j < keys; ++j)
        Bf16OuterBlock<Careful, 1, NC>(p + j * stride, stride, count, z, z_stride, y + j * y_stride,
                                       y_stride);
}

template <bool Careful>
void Bf16Outer(const float* p, std::int64_t stride, int keys, int count, const float* z,
               std::int64_t z_stride, std::int64_t width, float* y, std::int64_t y_stride) {
    std::int64_t c = 0;
    for (; c + 2 * kLanes <= width; c += 2 * kLanes)
        Bf16OuterColumns<Careful, 2>(p, stride, keys, count, z + c, z_stride, y + c, y_stride);
    for (; c < width; c += kLanes)
        Bf16OuterColumns<Careful, 1>(p, stride, keys, count, z + c, z_stride, y + c, y_stride);
}

template void Bf16Mix<false>(const float* const*, int, int, std::int64_t, const float*,
                             std::int64_t, Found, const float*, int, float*);
template void Bf16Mix<true>(const float* const*, int, int, std::int64_t, const float*, std::int64_t,
                            Found, const float*, int, float*);
template void Bf16Outer<false>(const float*, std::int64_t, int, int, const float*, std::int64_t,
                               std::int64_t, float*, std::int64_t);
template void Bf16Outer<true>(const float*, std::int64_t, int, int, const float*, std::int64_t,
                              std::int64_t, float*, std::int64_t);

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
