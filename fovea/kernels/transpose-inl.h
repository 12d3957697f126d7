// dst[c, r] = src[r, c] for blocks of f32 (or of anything of 32 bits: values are only moved).
// Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_TRANSPOSE_INL_H_
#undef FOVEA_KERNELS_TRANSPOSE_INL_H_
#else
#define FOVEA_KERNELS_TRANSPOSE_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_INLINE void Transpose8x8(const float* src, std::int64_t src_stride, float* dst,
                             std::int64_t dst_stride) {
    __m256 r[8], t[8];
    HWY_UNROLL(8)
    for (int i = 0; i < 4; ++i) {
        const float* a = src + i * src_stride;
        // Rows i and i + 4 side by side, so that only in-lane shuffles remain.
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(a)),
                                    _mm_loadu_ps(a + 4 * src_stride), 1);
        r[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(a + 4)),
                                        _mm_loadu_ps(a + 4 * src_stride + 4), 1);
    }
    HWY_UNROLL(2)
    for (int h = 0; h < 8; h += 4) {
        t[h] = _mm256_unpacklo_ps(r[h], r[h + 1]);
        t[h + 1] = _mm256_unpackhi_ps(r[h], r[h + 1]);
        t[h + 2] = _mm256_unpacklo_ps(r[h + 2], r[h + 3]);
        t[h + 3] = _mm256_unpackhi_ps(r[h + 2], r[h + 3]);
        float* out = dst + h * dst_stride;
        _mm256_storeu_ps(out, _mm256_shuffle_ps(t[h], t[h + 2], 0x44));
        _mm256_storeu_ps(out + dst_stride, _mm256_shuffle_ps(t[h], t[h + 2], 0xee));
        _mm256_storeu_ps(out + 2 * dst_stride, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0x44));
        _mm256_storeu_ps(out + 3 * dst_stride, _mm256_shuffle_ps(t[h + 1], t[h + 3], 0xee));
    }
}
#endif

// src is [rows, cols], dst [cols, rows].
HWY_INLINE void Transpose(const float* src, std::int64_t src_stride, std::int64_t rows,
                          std::int64_t cols, float* dst, std::int64_t dst_stride) {
    [[maybe_unused]] constexpr std::int64_t ahead = 16;
    std::int64_t full_rows_end = 0, full_cols_end = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    full_rows_end = rows / 8 * 8;
    full_cols_end = cols / 8 * 8;
    for (std::int64_t r = 0; r < full_rows_end; r += 8)
        for (std::int64_t c = 0; c < full_cols_end; c += 8) {
            // Rows lie far apart, so the hardware does not see them coming.
            if (c % 16 == 0 && r + ahead < full_rows_end) {
                HWY_UNROLL(8)
                for (int i = 0; i < 8; ++i)
                    __builtin_prefetch(src + (r + ahead + i) * src_stride + c, 0, 2);
            }
            Transpose8x8(src + r * src_stride + c, src_stride, dst + c * dst_stride + r,
                         dst_stride);
        }
#endif
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = r < full_rows_end ? full_cols_end : 0; c < cols; ++c)
            dst[c * dst_stride + r] = src[r * src_stride + c];
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
