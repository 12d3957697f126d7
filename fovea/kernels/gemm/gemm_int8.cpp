// The int8 and int7 products: weights packed with one scale a column, rows of A quantised on the
// fly with one scale a row. Sums of integers are exact, so every level (and AMX) ends with the same
//     y = float(Σ qa qw) · (sa · sw) + bias.
#include <algorithm>
#include <cassert>
#include <cstdint>

#include "fovea/kernels/gemm/gemm_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm/gemm_int8.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/gemm/gemm_epilogue-inl.h"
#include "fovea/kernels/gemm/quantise-inl.h"

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace {

// A prepared row: the quantised values, then (where the level works by signs) their sizes, each
// with a gap behind it, so that rows do not fall into the same sets of L1.
constexpr std::int64_t half_row_bytes(std::int64_t padded_k) { return padded_k + 64; }
constexpr std::int64_t row_bytes(std::int64_t padded_k) { return 2 * half_row_bytes(padded_k); }

struct Rows {
    const std::int8_t* q;      // [rows, stride]
    const std::int8_t* sizes;  // [rows, stride]
    std::int64_t stride;
};

// Σ over k of one strip and NP panels, as i32 [MR, NP·16].
using MicroFn = void (*)(const Rows& a, const std::int8_t* b, std::int64_t panel_stride,
                         std::int64_t k, std::int32_t* sums);

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
inline constexpr int sign_rows = 4;

// vpmaddubsw multiplies unsigned by signed bytes and adds pairs with saturation at 16 bits. With
// |a| on the unsigned side and a's sign moved to b the pairs stay within 2 · 127² = 32258: exact.
template <int MR>
HWY_NOINLINE void SignMicro(const Rows& a, const std::int8_t* b, std::int64_t, std::int64_t k,
                            std::int32_t* sums) {
    __m256i sum[MR][2];
    HWY_UNROLL(16)
    for (int r = 0; r < MR; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
    const __m256i ones = _mm256_set1_epi16(1);
    const std::int8_t* q = a.q;
    const std::int8_t* size = a.sizes;
    for (std::int64_t i = 0; i < k; i += 4) {
        const __m256i b0 = _mm256_load_si256(reinterpret_cast<const __m256i*>(b + i * 16));
        const __m256i b1 = _mm256_load_si256(reinterpret_cast<const __m256i*>(b + i * 16 + 32));
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            int signed_quad, size_quad;
            __builtin_memcpy(&signed_quad, q + r * a.stride + i, 4);
            __builtin_memcpy(&size_quad, size + r * a.stride + i, 4);
            const __m256i s = _mm256_set1_epi32(signed_quad), m = _mm256_set1_epi32(size_quad);
            const __m256i p0 = _mm256_maddubs_epi16(m, _mm256_sign_epi8(b0, s));
            const __m256i p1 = _mm256_maddubs_epi16(m, _mm256_sign_epi8(b1, s));
            sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(p0, ones));
            sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(p1, ones));
        }
    }
    HWY_UNROLL(16)
    for (int r = 0; r < MR; ++r) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(sums + r * 16), sum[r][0]);
        _mm256_store_si256(reinterpret_cast<__m256i*>(sums + r * 16 + 8), sum[r][1]);
    }
}

// int7: A's bytes carry +64 and lie in 1 … 127, B's in -63 … 63. A pair from vpmaddubsw is at most
// 2 · 127 · 63, so two of them are added in 16 bits (4 · 127 · 63 = 32004) before vpmaddwd widens:
// five instructions for eight k where signs take eight. 64 times the column's sum comes off at the
// end.
template <int MR>
HWY_NOINLINE void SevenBitMicro(const Rows& a, const std::int8_t* b, std::int64_t, std::int64_t k,
                                std::int32_t* sums) {
    __m256i sum[MR][2];
    HWY_UNROLL(16)
    for (int r = 0; r < MR; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
    const __m256i ones = _mm256_set1_epi16(1);
    const std::int8_t* q = a.q;
    for (std::int64_t i = 0; i < k; i += 8) {
        const auto* at = reinterpret_cast<const __m256i*>(b + i * 16);
        const __m256i b0 = _mm256_load_si256(at), b1 = _mm256_load_si256(at + 1);
        const __m256i b2 = _mm256_load_si256(at + 2), b3 = _mm256_load_si256(at + 3);
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            int first, second;
            __builtin_memcpy(&first, q + r * a.stride + i, 4);
            __builtin_memcpy(&second, q + r * a.stride + i + 4, 4);
            const __m256i u = _mm256_set1_epi32(first), v = _mm256_set1_epi32(second);
            const __m256i p0 =
                _mm256_add_epi16(_mm256_maddubs_epi16(u, b0), _mm256_maddubs_epi16(v, b2));
            const __m256i p1 =
                _mm256_add_epi16(_mm256_maddubs_epi16(u, b1), _mm256_maddubs_epi16(v, b3));
            sum[r][0] = _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(p0, ones));
            sum[r][1] = _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(p1, ones));
        }
    }
    HWY_UNROLL(16)
    for (int r = 0; r < MR; ++r) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(sums + r * 16), sum[r][0]);
        _mm256_store_si256(reinterpret_cast<__m256i*>(sums + r * 16 + 8), sum[r][1]);
    }
}

MicroFn seven_bit_micro(std::int64_t rows) {
    constexpr MicroFn all[] = {SevenBitMicro<1>, SevenBitMicro<2>, SevenBitMicro<3>,
                               SevenBitMicro<4>};
    return all[rows - 1];
}

MicroFn sign_micro(std::int64_t rows) {
    constexpr MicroFn all[] = {SignMicro<1>, SignMicro<2>, SignMicro<3>, SignMicro<4>};
    return all[rows - 1];
}
#endif

#if HWY_TARGET == HWY_AVX3
inline constexpr int vnni_rows = 12;

// AVX512-VNNI: unsigned by signed bytes, four products added to 32 bits. A's bytes carry +128,
// which comes off at the end as 128 times the column's sum. Written as assembly because the level
// does not imply VNNI and a function's own target would not be inlined.
HWY_INLINE __m512i DotBytes(__m512i sum, __m512i u8, __m512i s8) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u8), "v"(s8));
    return sum;
}

template <int MR, int NP>
HWY_NOINLINE void VnniMicro(const Rows& a, const std::int8_t* b, std::int64_t panel_stride,
                            std::int64_t k, std::int32_t* sums) {
    __m512i sum[MR][NP];
    HWY_UNROLL(16)
    for (int r = 0; r < MR; ++r) {
        HWY_UNROLL(8)
        for (int p = 0; p < NP; ++p) sum[r][p] = _mm512_setzero_si512();
    }
    const std::int8_t* q = a.q;
    for (std::int64_t i = 0; i < k; i += 4) {
        __m512i bv[NP];
        HWY_UNROLL(8)
        for (int p = 0; p < NP; ++p) bv[p] = _mm512_load_si512(b + p * panel_stride + i * 16);
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            int quad;
            __builtin_memcpy(&quad, q + r * a.stride + i, 4);
            const __m512i u = _mm512_set1_epi32(quad);
            HWY_UNROLL(8)
            for (int p = 0; p < NP; ++p) sum[r][p] = DotBytes(sum[r][p], u, bv[p]);
        }
    }
    HWY_UNROLL(16)
    for (int r = 0; r < MR; ++r) {
        HWY_UNROLL(8)
        for (int p = 0; p < NP; ++p) _mm512_store_si512(sums + (r * NP + p) * 16, sum[r][p]);
    }
}

template <int NP>
MicroFn vnni_micro_of(std::int64_t rows) {
    constexpr MicroFn all[] = {VnniMicro<1, NP>,  VnniMicro<2, NP>,  VnniMicro<3, NP>,
                               VnniMicro<4, NP>,  VnniMicro<5, NP>,  VnniMicro<6, NP>,
                               VnniMicro<7, NP>,  VnniMicro<8, NP>,  VnniMicro<9, NP>,
                               VnniMicro<10, NP>, VnniMicro<11, NP>, VnniMicro<12, NP>};
    return all[rows - 1];
}

MicroFn vnni_micro(std::int64_t rows, std::int64_t panels) {
    if (panels == 4 && rows <= 4) {
        constexpr MicroFn all[] = {VnniMicro<1, 4>, VnniMicro<2, 4>, VnniMicro<3, 4>,
                                   VnniMicro<4, 4>};
        return all[rows - 1];
    }
    return panels == 2 ? vnni_micro_of<2>(rows) : vnni_micro_of<1>(rows);
}
#endif

[[maybe_unused]] void PlainMicro(const Rows& a, const std::int8_t* b, std::int64_t, std::int64_t k,
                                 std::int32_t* sums) {
    std::fill_n(sums, 16, 0);
    for (std::int64_t i = 0; i < k; i += 4)
        for (int j = 0; j < 64; ++j) sums[j / 4] += a.q[i + j % 4] * b[i * 16 + j];
}

// How the active level multiplies.
enum class Dots { plain, signs, seven_bits, vnni };
struct Way {
    Dots dots;
    int rows, panels;  // of a full strip
    int offset;        // A carries 2^offset; 0: nothing
};

Way choose_way([[maybe_unused]] float levels) {
#if HWY_TARGET == HWY_AVX3
    if (has_avx512_vnni()) return {Dots::vnni, vnni_rows, 2, 7};
#endif
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    if (levels <= 63.0f) return {Dots::seven_bits, sign_rows, 1, 6};
    return {Dots::signs, sign_rows, 1, 0};
#else
    return {Dots::plain, 1, 1, 0};
#endif
}

MicroFn micro_for([[maybe_unused]] const Way& way, [[maybe_unused]] std::int64_t rows,
                  [[maybe_unused]] std::int64_t panels) {
#if HWY_TARGET == HWY_AVX3
    if (way.dots == Dots::vnni) return vnni_micro(rows, panels);
#endif
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    return way.dots == Dots::seven_bits ? seven_bit_micro(rows) : sign_micro(rows);
#else
    return PlainMicro;
#endif
}

}  // namespace

void PrepareInt8(const PrepareTask& t) {
    const Way way = choose_way(t.levels);
    assert(!t.a_transposed);
    for (std::int64_t r = 0; r < t.rows; ++r) {
        const float* x = t.a + r * t.a_stride;
        const Scale s = ScaleOf(LargestBits(x, t.k), t.levels);
        auto* row = reinterpret_cast<std::int8_t*>(t.out) + r * row_bytes(t.padded_k);
        std::int8_t* sizes = row + half_row_bytes(t.padded_k);
        t.scales[r] = s.scale;
        QuantiseRow(x, t.k, s.inverse, row);
        std::fill(row + t.k, row + t.padded_k, std::int8_t{0});
        if (way.dots == Dots::signs)
            for (std::int64_t i = 0; i < t.padded_k; ++i)
                sizes[i] = static_cast<std::int8_t>(row[i] < 0 ? -row[i] : row[i]);
        if (way.offset)
            for (std::int64_t i = 0; i < t.padded_k; ++i)
                row[i] = static_cast<std::int8_t>(row[i] + (1 << way.offset));
    }
}

// From exact sums [rows, stride] to C. Where A carried 2^offset, 2^offset times each column's sum
// is taken off first.
void FinishSums(const GemmBlock& g, const std::int32_t* sums, std::int64_t sums_stride,
                const float* row_scales, std::int64_t row, std::int64_t rows, std::int64_t col,
                std::int64_t cols, int offset) {
    const Tag16 d;
    const hn::RebindToSigned<Tag16> di;
    for (std::int64_t j = 0; j < cols; j += 16) {
        const std::int64_t at = (g.first_panel * 16) + col + j,
                           here = std::min<std::int64_t>(16, cols - j);
        for (std::size_t part = 0; part < parts16; ++part) {
            const auto first = static_cast<std::int64_t>(part * part_lanes);
            if (first >= here) break;
            const std::int64_t some = std::min<std::int64_t>(part_lanes, here - first);
            auto correction = hn::Zero(di);
            if (offset)
                correction = hn::Mul(hn::LoadU(di, g.b->column_sums() + at + first),
                                     hn::Set(di, 1 << offset));
            const auto column_scale = hn::LoadU(d, g.b->scales() + at + first);
            const auto bias = g.epilogue.bias ? LoadSome(d, g.epilogue.bias + col + j + first, some)
                                              : hn::Zero(d);
            for (std::int64_t r = 0; r < rows; ++r) {
                const auto sum =
                    hn::Sub(hn::LoadU(di, sums + r * sums_stride + j + first), correction);
                const auto scale = hn::Mul(hn::Set(d, row_scales[row + r]), column_scale);
                auto y = hn::Mul(hn::ConvertTo(d, sum), scale);
                if (g.epilogue.bias) y = hn::Add(y, bias);
                float* to = g.c + (row + r) * g.c_stride + col + j + first;
                if (some == static_cast<std::int64_t>(part_lanes))
                    hn::StoreU(y, d, to);
                else
                    StoreSome(y, d, to, some);
            }
        }
    }
    FinishTile(g.epilogue, row, col, g.c + row * g.c_stride + col, g.c_stride, rows, cols);
}

void Int8Block(const GemmBlock& g) {
    const std::int64_t k = g.b->padded_k(), stride = row_bytes(k);
    assert(k <= 131072 && !g.epilogue.accumulate);  // sums fit into 32 bits
    const float levels = levels_of(g.b->format());
    const Way way = choose_way(levels);
    const unsigned char* prepared = g.a_prepared;
    const float* scales = g.a_scales;
    if (!prepared) {
        auto* scratch = static_cast<unsigned char*>(
            block_scratch(static_cast<std::size_t>(g.rows * (stride + 4))));
        auto* own_scales = reinterpret_cast<float*>(scratch + g.rows * stride);
        PrepareInt8(
            {g.a, g.a_stride, g.a_transposed, g.rows, g.b->k(), k, scratch, own_scales, levels});
        prepared = scratch;
        scales = own_scales;
    }
    const auto* q = reinterpret_cast<const std::int8_t*>(prepared);

    HWY_ALIGN std::int32_t sums[12 * 64];
    const std::int64_t at_once = way.dots == Dots::vnni && g.rows <= 4 ? 4 : way.panels;
    for (std::int64_t col = 0; col < g.cols;) {
        const std::int64_t left = (g.cols - col + 15) / 16;
        const std::int64_t panels = left >= at_once ? at_once : left >= way.panels ? way.panels : 1;
        const std::int64_t cols = std::min(panels * 16, g.cols - col);
        const std::int8_t* b = g.b->int8_panel(g.first_panel + col / 16);
        for (std::int64_t row = 0; row < g.rows;) {
            const std::int64_t strips = (g.rows - row + way.rows - 1) / way.rows;
            const std::int64_t rows = (g.rows - row + strips - 1) / strips;
            const Rows a{q + row * stride, q + row * stride + half_row_bytes(k), stride};
            micro_for(way, rows, panels)(a, b, k * 16, k, sums);
            FinishSums(g, sums, panels * 16, scales, row, rows, col, cols, way.offset);
            row += rows;
        }
        col += panels * 16;
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(Int8Block);
HWY_EXPORT(PrepareInt8);

BlockKernels int8_kernels(std::int64_t padded_k) {
    return {.block = FOVEA_DISPATCH(Int8Block),
            .prepare = FOVEA_DISPATCH(PrepareInt8),
            .prepared_row_bytes = 2 * (padded_k + 64)};
}
}  // namespace fovea::kernels
#endif
