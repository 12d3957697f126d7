// The micro-kernels of the bf16 product (gemm_bf16.cpp): one tile of C over 32 k at a time.
// Included as simd_math-inl.h is.
#if defined(FOVEA_KERNELS_GEMM_BF16_MICRO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNELS_GEMM_BF16_MICRO_INL_H_
#undef FOVEA_KERNELS_GEMM_BF16_MICRO_INL_H_
#else
#define FOVEA_KERNELS_GEMM_BF16_MICRO_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstdint>

#include "fovea/kernels/bf16-inl.h"
#include "fovea/kernels/transpose-inl.h"
#include "hwy/highway.h"

#if HWY_TARGET == HWY_AVX3
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace {

// direct: few rows stream B as it lies, both chains of an element at once, so a third of the rows
// of the f32 kernel. spread: many rows share panels spread out to f32, the even k of each 32 first:
// one chain after the other, with the f32 kernel's tile. pairs: where AVX512-BF16 is, vdpbf16ps
// takes two steps of one chain at a time.
enum class Form { direct, spread, pairs };

#if HWY_TARGET == HWY_AVX3
inline constexpr int direct_rows = 4, spread_rows = 12, pairs_rows = 6, full_panels = 2;
#elif HWY_TARGET == HWY_SCALAR
inline constexpr int direct_rows = 1, spread_rows = 1, pairs_rows = 1, full_panels = 1;
#else
inline constexpr int direct_rows = 2, spread_rows = 6, pairs_rows = 1, full_panels = 1;
#endif

// c += even + odd, from 0 at the very start.
HWY_INLINE void AddHalves(Part16 even, Part16 odd, bool start, float* at) {
    const Tag16 d;
    const Part16 before = start ? hn::Zero(d) : hn::LoadU(d, at);
    hn::StoreU(hn::Add(before, hn::Add(even, odd)), d, at);
}

HWY_INLINE void AddBias(const float* bias, std::int64_t rows, std::int64_t cols, float* c,
                        std::int64_t c_stride) {
    const Tag16 d;
    constexpr auto lanes = static_cast<std::int64_t>(part_lanes);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < cols; j += lanes) {
            float* at = c + r * c_stride + j;
            hn::StoreU(hn::Add(hn::LoadU(d, at), hn::LoadU(d, bias + j)), d, at);
        }
}

// C's tile [MR, NP·16] over `groups` times 32 k. Element (r, k) of A (rounded) at a + r·a_stride +
// k; panel p of B at b + p·panel_stride: per two k 16 pairs, the even k in the lower half.
template <int MR, int NP>
HWY_NOINLINE void Direct(const float* HWY_RESTRICT a, std::int64_t a_stride,
                         const void* HWY_RESTRICT b, std::int64_t panel_stride, std::int64_t groups,
                         float* HWY_RESTRICT c, std::int64_t c_stride, bool from_c,
                         const float* HWY_RESTRICT bias) {
    const Tag16 d;
    const hn::RebindToUnsigned<Tag16> du;
    constexpr int parts = static_cast<int>(parts16), nv = NP * parts;
    constexpr auto lanes = static_cast<std::int64_t>(part_lanes);
    for (std::int64_t g = 0; g < groups; ++g) {
        Part16 even[MR][nv], odd[MR][nv];
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v) even[r][v] = odd[r][v] = hn::Zero(d);
        }
        HWY_UNROLL(2)
        for (int i = 0; i < 16; ++i) {
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v) {
                const auto* pairs = static_cast<const std::uint32_t*>(b) +
                                    (v / parts) * panel_stride / 2 + (g * 16 + i) * 16;
                const auto pair = hn::Load(du, pairs + (v % parts) * lanes);
                const Part16 b_even = hn::BitCast(d, hn::ShiftLeft<16>(pair));
                const Part16 b_odd = hn::BitCast(d, hn::And(pair, hn::Set(du, 0xffff0000u)));
                HWY_UNROLL(16)
                for (int r = 0; r < MR; ++r) {
                    const float* ar = a + r * a_stride + g * 32 + 2 * i;
                    even[r][v] = Fma(hn::Set(d, ar[0]), b_even, even[r][v]);
                    odd[r][v] = Fma(hn::Set(d, ar[1]), b_odd, odd[r][v]);
                }
            }
        }
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v)
                AddHalves(even[r][v], odd[r][v], g == 0 && !from_c, c + r * c_stride + v * lanes);
        }
    }
    if (bias) AddBias(bias, MR, NP * 16, c, c_stride);
}

// Sixteen k of one parity: sum += A B, the f32 kernel's inner loop.
template <int MR, int NP>
HWY_INLINE void Half(const float* HWY_RESTRICT a, std::int64_t a_stride,
                     const float* HWY_RESTRICT b, std::int64_t panel_stride,
                     Part16 (&sum)[MR][NP * parts16]) {
    const Tag16 d;
    constexpr int parts = static_cast<int>(parts16), nv = NP * parts;
    constexpr auto lanes = static_cast<std::int64_t>(part_lanes);
    HWY_UNROLL(4)
    for (int i = 0; i < 16; ++i) {
        Part16 bv[nv];
        HWY_UNROLL(16)
        for (int v = 0; v < nv; ++v)
            bv[v] = hn::Load(d, b + (v / parts) * panel_stride + i * 16 + (v % parts) * lanes);
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            const Part16 av = hn::Set(d, a[r * a_stride + 2 * i]);
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v) sum[r][v] = Fma(av, bv[v], sum[r][v]);
        }
    }
}

// The same as Direct with B spread out: per 32 k 16 rows of the even k, then 16 of the odd.
template <int MR, int NP>
HWY_NOINLINE void Spread(const float* HWY_RESTRICT a, std::int64_t a_stride,
                         const void* HWY_RESTRICT b_spread, std::int64_t panel_stride,
                         std::int64_t groups, float* HWY_RESTRICT c, std::int64_t c_stride,
                         bool from_c, const float* HWY_RESTRICT bias) {
    const Tag16 d;
    constexpr int nv = NP * static_cast<int>(parts16);
    constexpr auto lanes = static_cast<std::int64_t>(part_lanes);
    const auto* b = static_cast<const float*>(b_spread);
    HWY_ALIGN float waiting[MR * NP * 16];  // the even sums, while the registers hold the odd ones
    for (std::int64_t g = 0; g < groups; ++g) {
        Part16 sum[MR][nv];
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v) sum[r][v] = hn::Zero(d);
        }
        Half<MR, NP>(a + g * 32, a_stride, b + g * 512, panel_stride, sum);
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v) {
                hn::Store(sum[r][v], d, waiting + (r * nv + v) * lanes);
                sum[r][v] = hn::Zero(d);
            }
        }
        Half<MR, NP>(a + g * 32 + 1, a_stride, b + g * 512 + 256, panel_stride, sum);
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v)
                AddHalves(hn::Load(d, waiting + (r * nv + v) * lanes), sum[r][v], g == 0 && !from_c,
                          c + r * c_stride + v * lanes);
        }
    }
    if (bias) AddBias(bias, MR, NP * 16, c, c_stride);
}

// A panel's piece of `groups` times 32 k, spread out.
void SpreadPanel(const Bf16* b, std::int64_t groups, float* out) {
    const Tag16 d;
    const hn::RebindToUnsigned<Tag16> du;
    const auto* pairs = reinterpret_cast<const std::uint32_t*>(b);
    for (std::int64_t g = 0; g < groups; ++g)
        for (int i = 0; i < 16; ++i)
            for (std::size_t part = 0; part < parts16; ++part) {
                const auto at = static_cast<std::int64_t>(part * part_lanes) + i * 16;
                const auto pair = hn::Load(du, pairs + g * 256 + at);
                hn::Store(hn::BitCast(d, hn::ShiftLeft<16>(pair)), d, out + g * 512 + at);
                hn::Store(hn::BitCast(d, hn::And(pair, hn::Set(du, 0xffff0000u))), d,
                          out + g * 512 + 256 + at);
            }
}

#if HWY_TARGET == HWY_AVX3

// sum += high·high, then += low·low, each with one rounding: two steps of a chain. (Measured on a
// Zen 4: the upper halves go first, as Intel's manual has it.) As assembly: the level does not
// imply AVX512-BF16.
HWY_INLINE void DotPairs(__m512i a, __m512i b, Part16& sum) {
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(a), "v"(b));
}

// The same as Direct with A and B in pairs of neighbours of a chain, the earlier one in the upper
// half: per 32 k 8 words of even k (4j and 4j + 2), then 8 of odd k (4j + 1 and 4j + 3).
template <int MR, int NP>
HWY_NOINLINE void Pairs(const float* HWY_RESTRICT a_pairs, std::int64_t a_stride,
                        const void* HWY_RESTRICT b_pairs, std::int64_t panel_stride,
                        std::int64_t groups, float* HWY_RESTRICT c, std::int64_t c_stride,
                        bool from_c, const float* HWY_RESTRICT bias) {
    const Tag16 d;
    const auto* a = reinterpret_cast<const int*>(a_pairs);
    const auto* b = static_cast<const Bf16*>(b_pairs);
    for (std::int64_t g = 0; g < groups; ++g) {
        Part16 even[MR][NP], odd[MR][NP];
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            HWY_UNROLL(16)
            for (int p = 0; p < NP; ++p) even[r][p] = odd[r][p] = hn::Zero(d);
        }
        HWY_UNROLL(8)
        for (int j = 0; j < 8; ++j) {
            __m512i b_even[NP], b_odd[NP];
            HWY_UNROLL(16)
            for (int p = 0; p < NP; ++p) {
                const Bf16* at = b + p * panel_stride + g * 512 + j * 32;
                b_even[p] = _mm512_load_si512(at);
                b_odd[p] = _mm512_load_si512(at + 256);
            }
            HWY_UNROLL(16)
            for (int r = 0; r < MR; ++r) {
                const int* at = a + r * a_stride + g * 16 + j;
                const __m512i a_even = _mm512_set1_epi32(at[0]), a_odd = _mm512_set1_epi32(at[8]);
                HWY_UNROLL(16)
                for (int p = 0; p < NP; ++p) {
                    DotPairs(a_even, b_even[p], even[r][p]);
                    DotPairs(a_odd, b_odd[p], odd[r][p]);
                }
            }
        }
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            HWY_UNROLL(16)
            for (int p = 0; p < NP; ++p)
                AddHalves(even[r][p], odd[r][p], g == 0 && !from_c, c + r * c_stride + p * 16);
        }
    }
    if (bias) AddBias(bias, MR, NP * 16, c, c_stride);
}

// A panel's piece of `groups` times 32 k, paired for Pairs.
void PairPanel(const Bf16* b, std::int64_t groups, Bf16* out) {
    constexpr __mmask32 upper = 0xaaaaaaaa;
    for (std::int64_t g = 0; g < groups; ++g)
        for (int j = 0; j < 8; ++j) {
            const __m512i first = _mm512_load_si512(b + g * 512 + j * 64);  // k = 4j, 4j + 1
            const __m512i second = _mm512_load_si512(b + g * 512 + j * 64 + 32);
            Bf16* to = out + g * 512 + j * 32;
            _mm512_store_si512(
                to, _mm512_mask_blend_epi16(upper, second, _mm512_slli_epi32(first, 16)));
            _mm512_store_si512(
                to + 256, _mm512_mask_blend_epi16(upper, _mm512_srli_epi32(second, 16), first));
        }
}

// Which of 32 k stands in a half of Pairs' words of A: even k before odd ones, the earlier in the
// upper half.
inline constexpr int pair_step(int half) {
    return half / 2 % 8 * 4 + (half < 16 ? 0 : 1) + (half % 2 ? 0 : 2);
}

// `count` values of one row of A, rounded and paired; up to padded_count (a multiple of 32) zeros.
void PairRow(const float* x, std::int64_t count, std::int64_t padded_count, float* out) {
    alignas(64) static constexpr auto order = [] {
        std::array<std::uint16_t, 32> o{};
        for (std::size_t i = 0; i < 32; ++i)
            o[i] = static_cast<std::uint16_t>(pair_step(static_cast<int>(i)));
        return o;
    }();
    const __m512i places = _mm512_load_si512(order.data());
    for (std::int64_t k = 0; k < padded_count; k += 32) {
        const F16 low = LoadSome16(x + k, std::clamp<std::int64_t>(count - k, 0, 16));
        const F16 high = LoadSome16(x + k + 16, std::clamp<std::int64_t>(count - k - 16, 0, 16));
        const __m512i rounded = ConvertToBf16(low.part[0], high.part[0]);
        _mm512_storeu_si512(out + k / 2, _mm512_permutexvar_epi16(places, rounded));
    }
}

// The same of sixteen columns (or `cols` of them) of A [k, rows] from x on, as rows of out.
void PairColumns(const float* x, std::int64_t x_stride, std::int64_t count,
                 std::int64_t padded_count, std::int64_t cols, float* out, std::int64_t stride) {
    HWY_ALIGN float words[16 * 16];
    const auto step = [&](std::int64_t k) HWY_ATTR {
        return k < count ? LoadSome16(x + k * x_stride, cols) : Zero16();
    };
    for (std::int64_t k = 0; k < padded_count; k += 32) {
        for (int word = 0; word < 16; ++word)
            StoreBf16Pairs(step(k + pair_step(2 * word)), step(k + pair_step(2 * word + 1)), true,
                           reinterpret_cast<Bf16*>(words + word * 16));
        Transpose(words, 16, 16, cols, out + k / 2, stride);
    }
}

#endif

using MicroFn = void (*)(const float*, std::int64_t, const void*, std::int64_t, std::int64_t,
                         float*, std::int64_t, bool, const float*);

template <int NP>
MicroFn direct_of(std::int64_t rows) {
    switch (rows) {
        case 1:
            return Direct<1, NP>;
#if HWY_TARGET != HWY_SCALAR
        case 2:
            return Direct<2, NP>;
#endif
#if HWY_TARGET == HWY_AVX3
        case 3:
            return Direct<3, NP>;
        case 4:
            return Direct<4, NP>;
#endif
    }
    return nullptr;
}

template <int NP>
MicroFn spread_of(std::int64_t rows) {
    switch (rows) {
        case 1:
            return Spread<1, NP>;
#if HWY_TARGET != HWY_SCALAR
        case 2:
            return Spread<2, NP>;
        case 3:
            return Spread<3, NP>;
        case 4:
            return Spread<4, NP>;
        case 5:
            return Spread<5, NP>;
        case 6:
            return Spread<6, NP>;
#endif
#if HWY_TARGET == HWY_AVX3
        case 7:
            return Spread<7, NP>;
        case 8:
            return Spread<8, NP>;
        case 9:
            return Spread<9, NP>;
        case 10:
            return Spread<10, NP>;
        case 11:
            return Spread<11, NP>;
        case 12:
            return Spread<12, NP>;
#endif
    }
    return nullptr;
}

#if HWY_TARGET == HWY_AVX3
template <int NP>
MicroFn pairs_of(std::int64_t rows) {
    static constexpr MicroFn of[] = {Pairs<1, NP>, Pairs<2, NP>, Pairs<3, NP>,
                                     Pairs<4, NP>, Pairs<5, NP>, Pairs<6, NP>};
    return of[rows - 1];
}
#endif

MicroFn micro_for(Form form, std::int64_t rows, int panels) {
#if HWY_TARGET == HWY_AVX3
    if (form == Form::pairs)
        return panels == full_panels ? pairs_of<full_panels>(rows) : pairs_of<1>(rows);
#endif
    if (form == Form::spread)
        return panels == full_panels ? spread_of<full_panels>(rows) : spread_of<1>(rows);
#if HWY_TARGET != HWY_SCALAR
    if (rows == 1 && panels == 2 * full_panels) return Direct<1, 2 * full_panels>;
#endif
    return panels == full_panels ? direct_of<full_panels>(rows) : direct_of<1>(rows);
}

}  // namespace
}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
