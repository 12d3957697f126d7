// The bf16 product by f32 arithmetic, in the order of AMX's tdpbf16ps and bit-equal to it: per 32 k
// one chain of fused multiply-adds over the even and one over the odd k, both from 0, then
// c += even + odd. (AVX512-BF16's vdpbf16ps has half the speed of f32 FMA and another order.)
#include <algorithm>
#include <cstdint>

#include "fovea/kernels/gemm/gemm_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm/gemm_bf16.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/bf16-inl.h"
#include "fovea/kernels/gemm/gemm_epilogue-inl.h"
#include "fovea/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace {

// Few rows stream B as it lies (Direct): both chains of an element at once, so a third of the rows
// of the f32 kernel. Many rows share panels spread out to f32 (Spread), the even k of each 32
// first: one chain after the other, with the f32 kernel's tile.
#if HWY_TARGET == HWY_AVX3
inline constexpr int direct_rows = 4, spread_rows = 12, full_panels = 2;
#elif HWY_TARGET == HWY_SCALAR
inline constexpr int direct_rows = 1, spread_rows = 1, full_panels = 1;
#else
inline constexpr int direct_rows = 2, spread_rows = 6, full_panels = 1;
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

MicroFn micro_for(bool spread, std::int64_t rows, int panels) {
    if (spread) return panels == full_panels ? spread_of<full_panels>(rows) : spread_of<1>(rows);
#if HWY_TARGET != HWY_SCALAR
    if (rows == 1 && panels == 2 * full_panels) return Direct<1, 2 * full_panels>;
#endif
    return panels == full_panels ? direct_of<full_panels>(rows) : direct_of<1>(rows);
}

// Rounds A's rows from k0 to k1 (k1 may lie in the padding of zeros) to out [rows, stride].
void RoundRows(const PrepareTask& t, std::int64_t k0, std::int64_t k1, float* out,
               std::int64_t stride) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t steps = std::min(k1, t.k) - k0;
    if (t.a_transposed) Transpose(t.a + k0 * t.a_stride, t.a_stride, steps, t.rows, out, stride);
    for (std::int64_t r = 0; r < t.rows; ++r) {
        float* to = out + r * stride;
        const float* from = t.a_transposed ? to : t.a + r * t.a_stride + k0;
        std::int64_t i = 0;
        for (; i + lanes <= steps; i += lanes)
            hn::StoreU(RoundToBf16(d, hn::LoadU(d, from + i)), d, to + i);
        if (i < steps)
            StoreSome(RoundToBf16(d, LoadSome(d, from + i, steps - i)), d, to + i, steps - i);
        std::fill(to + steps, to + (k1 - k0), 0.0f);
    }
}

// A prepared row: rounded values and a gap, so that rows do not fall into the same sets of L1.
inline constexpr std::int64_t row_gap = 16;

// Operands of the tiles of one piece of k and one group of panels.
struct Piece {
    const float* a;
    std::int64_t a_stride;
    const void* b;
    std::int64_t panel_stride;  // in values
    std::int64_t k0, k1;
};

void Tile(MicroFn micro, const GemmBlock& g, const Piece& piece, std::int64_t row,
          std::int64_t rows, std::int64_t col, std::int64_t cols, std::int64_t padded_cols) {
    const std::int64_t groups = (piece.k1 - piece.k0) / 32;
    const float* a = piece.a + row * piece.a_stride;
    float* c = g.c + row * g.c_stride + col;
    const bool from_c = piece.k0 > 0 || g.epilogue.accumulate, last = piece.k1 == g.b->padded_k();
    const float* bias = last && g.epilogue.bias ? g.epilogue.bias + col : nullptr;
    if (cols == padded_cols) {
        micro(a, piece.a_stride, piece.b, piece.panel_stride, groups, c, g.c_stride, from_c, bias);
    } else {  // through a tile of full width
        HWY_ALIGN float tile[spread_rows * 32 * full_panels], bias_tile[32 * full_panels];
        for (std::int64_t i = 0; i < rows && from_c; ++i)
            for (std::int64_t j = 0; j < padded_cols; ++j)
                tile[i * padded_cols + j] = j < cols ? c[i * g.c_stride + j] : 0.0f;
        for (std::int64_t j = 0; j < padded_cols && bias; ++j)
            bias_tile[j] = j < cols ? bias[j] : 0.0f;
        micro(a, piece.a_stride, piece.b, piece.panel_stride, groups, tile, padded_cols, from_c,
              bias ? bias_tile : nullptr);
        for (std::int64_t i = 0; i < rows; ++i)
            std::copy_n(tile + i * padded_cols, cols, c + i * g.c_stride);
    }
    if (last) FinishTile(g.epilogue, row, col, c, g.c_stride, rows, cols);
}

}  // namespace

void PrepareBf16(const PrepareTask& t) {
    RoundRows(t, 0, t.padded_k, reinterpret_cast<float*>(t.out), t.padded_k + row_gap);
}

void Bf16Block(const GemmBlock& g) {
    const std::int64_t k = g.b->padded_k();
    // Spreading a panel is worth its while from about one strip of rows on. Its piece of 256 k (16
    // KB spread out) stays in L1 while the strips of A pass.
    const bool spread = g.rows > 6 && HWY_TARGET != HWY_SCALAR;
    const std::int64_t strip = spread ? spread_rows : direct_rows;
    const std::int64_t step = std::min<std::int64_t>(k, spread                  ? 256
                                                        : g.rows <= direct_rows ? k
                                                                                : 512);
    const std::int64_t a_stride = (g.a_prepared ? k : step) + row_gap;
    const std::int64_t spread_values = spread ? full_panels * step * 16 : 0;
    const std::int64_t own_values = g.a_prepared ? 0 : g.rows * a_stride;
    auto* scratch = static_cast<float*>(
        block_scratch(static_cast<std::size_t>(spread_values + own_values) * sizeof(float)));
    float* own = scratch + spread_values;
    const int at_once = (!spread && g.rows == 1 && direct_rows > 1 ? 2 : 1) * full_panels;
    std::int64_t k0 = 0;
    do {
        const std::int64_t k1 = std::min(k, k0 + step);
        const float* rounded = own;
        if (g.a_prepared)
            rounded = reinterpret_cast<const float*>(g.a_prepared) + k0;
        else
            RoundRows({g.a, g.a_stride, g.a_transposed, g.rows, g.b->k(), k}, k0, k1, own,
                      a_stride);
        for (std::int64_t col = 0; col < g.cols;) {
            const std::int64_t left = (g.cols - col + 15) / 16;
            const int panels = left >= at_once ? at_once : left >= full_panels ? full_panels : 1;
            const std::int64_t padded = panels * 16, cols = std::min(padded, g.cols - col);
            const std::int64_t panel = g.first_panel + col / 16;
            Piece piece{rounded, a_stride, g.b->bf16_panel(panel) + k0 * 16, k * 16, k0, k1};
            if (spread) {
                for (int p = 0; p < panels; ++p)
                    SpreadPanel(g.b->bf16_panel(panel + p) + k0 * 16, (k1 - k0) / 32,
                                scratch + p * step * 16);
                piece.b = scratch;
                piece.panel_stride = step * 16;
            }
            for (std::int64_t row = 0; row < g.rows;) {
                const std::int64_t strips = (g.rows - row + strip - 1) / strip;
                const std::int64_t rows = (g.rows - row + strips - 1) / strips;
                Tile(micro_for(spread, rows, panels), g, piece, row, rows, col, cols, padded);
                row += rows;
            }
            col += padded;
        }
        k0 = k1;
    } while (k0 < k);
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(Bf16Block);
HWY_EXPORT(PrepareBf16);

BlockKernels bf16_kernels(std::int64_t padded_k) {
    return {.block = FOVEA_DISPATCH(Bf16Block),
            .prepare = FOVEA_DISPATCH(PrepareBf16),
            .prepared_row_bytes = (padded_k + 16) * 4};
}
}  // namespace fovea::kernels
#endif
