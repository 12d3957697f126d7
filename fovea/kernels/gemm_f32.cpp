// The f32 product: one chain of fused multiply-adds an element, lanes along the columns of C.
#include <algorithm>
#include <cstdint>

#include "fovea/kernels/gemm_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm_f32.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/gemm_epilogue-inl.h"
#include "fovea/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace {

// Rows of C a micro-kernel holds in registers: 6 x 16 of 16 registers with AVX2 (12 sums, 2 of B,
// a broadcast), 12 x 32 of 32 with AVX-512.
#if HWY_TARGET == HWY_AVX3
inline constexpr int full_rows = 12, full_panels = 2;
#elif HWY_TARGET == HWY_SCALAR
inline constexpr int full_rows = 1, full_panels = 1;
#else
inline constexpr int full_rows = 6, full_panels = 1;
#endif

// C's tile [MR, NP·16], from 0 or from what C holds, over k steps. Element (r, k) of A is at
// a + r·a_stride + k; panel p of B at b + p·panel_stride, 16 values a step.
template <int MR, int NP>
HWY_NOINLINE void Micro(const float* HWY_RESTRICT a, std::int64_t a_stride,
                        const float* HWY_RESTRICT b, std::int64_t panel_stride, std::int64_t k,
                        float* HWY_RESTRICT c, std::int64_t c_stride, bool from_c,
                        const float* HWY_RESTRICT bias) {
    const Tag16 d;
    constexpr int nv = NP * static_cast<int>(parts16);
    constexpr auto lanes = static_cast<std::int64_t>(part_lanes);
    Part16 sum[MR][nv];
    HWY_UNROLL(16)
    for (int r = 0; r < MR; ++r) {
        HWY_UNROLL(16)
        for (int v = 0; v < nv; ++v)
            sum[r][v] = from_c ? hn::LoadU(d, c + r * c_stride + v * lanes) : hn::Zero(d);
    }
    HWY_UNROLL(4)
    for (std::int64_t i = 0; i < k; ++i) {
        Part16 bv[nv];
        HWY_UNROLL(16)
        for (int v = 0; v < nv; ++v)
            bv[v] = hn::Load(d, b + (v / static_cast<int>(parts16)) * panel_stride + i * 16 +
                                    (v % static_cast<int>(parts16)) * lanes);
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            const Part16 av = hn::Set(d, a[r * a_stride + i]);
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v) sum[r][v] = Fma(av, bv[v], sum[r][v]);
        }
    }
    if (bias) {
        HWY_UNROLL(16)
        for (int v = 0; v < nv; ++v) {
            const Part16 add = hn::LoadU(d, bias + v * lanes);
            HWY_UNROLL(16)
            for (int r = 0; r < MR; ++r) sum[r][v] = hn::Add(sum[r][v], add);
        }
    }
    HWY_UNROLL(16)
    for (int r = 0; r < MR; ++r) {
        HWY_UNROLL(16)
        for (int v = 0; v < nv; ++v) hn::StoreU(sum[r][v], d, c + r * c_stride + v * lanes);
    }
}

using MicroFn = void (*)(const float*, std::int64_t, const float*, std::int64_t, std::int64_t,
                         float*, std::int64_t, bool, const float*);

// How many panels a strip of so many rows takes at once: about eight chains hide the latency.
constexpr int panels_at_once(std::int64_t rows) {
    if (rows > 3 || full_rows == 1) return full_panels;
    return (rows == 1 ? 4 : 2) * full_panels;
}

template <int NP>
MicroFn micro_of(std::int64_t rows) {
    switch (rows) {
        case 1:
            return Micro<1, NP>;
#if HWY_TARGET != HWY_SCALAR
        case 2:
            return Micro<2, NP>;
        case 3:
            return Micro<3, NP>;
        case 4:
            return Micro<4, NP>;
        case 5:
            return Micro<5, NP>;
        case 6:
            return Micro<6, NP>;
#endif
#if HWY_TARGET == HWY_AVX3
        case 7:
            return Micro<7, NP>;
        case 8:
            return Micro<8, NP>;
        case 9:
            return Micro<9, NP>;
        case 10:
            return Micro<10, NP>;
        case 11:
            return Micro<11, NP>;
        case 12:
            return Micro<12, NP>;
#endif
    }
    return nullptr;
}

MicroFn micro_for(std::int64_t rows, int panels) {
#if HWY_TARGET != HWY_SCALAR
    if (rows == 1 && panels == 4 * full_panels) return Micro<1, 4 * full_panels>;
    if (rows == 2 && panels == 2 * full_panels) return Micro<2, 2 * full_panels>;
    if (rows == 3 && panels == 2 * full_panels) return Micro<3, 2 * full_panels>;
#endif
    return panels == full_panels ? micro_of<full_panels>(rows) : micro_of<1>(rows);
}

// Rows of A from k0 to k1, k contiguous.
struct APiece {
    const float* data;
    std::int64_t stride;
};

// One strip of rows times NP panels, of which the last may end before its 16th column.
void Tile(MicroFn micro, const GemmBlock& g, APiece piece, std::int64_t row, std::int64_t rows,
          std::int64_t col, std::int64_t cols, std::int64_t padded_cols, std::int64_t k0,
          std::int64_t k1) {
    const std::int64_t k = g.b->k();
    const float* a = piece.data + row * piece.stride;
    const float* b = g.b->f32_panel(g.first_panel + col / 16) + k0 * 16;
    float* c = g.c + row * g.c_stride + col;
    const bool from_c = k0 > 0 || g.epilogue.accumulate, last = k1 == k;
    const float* bias = last && g.epilogue.bias ? g.epilogue.bias + col : nullptr;
    if (cols == padded_cols) {
        micro(a, piece.stride, b, k * 16, k1 - k0, c, g.c_stride, from_c, bias);
    } else {  // through a tile of full width
        HWY_ALIGN float tile[full_rows * 16 * 4 * full_panels], bias_tile[16 * 4 * full_panels];
        for (std::int64_t i = 0; i < rows && from_c; ++i)
            for (std::int64_t j = 0; j < padded_cols; ++j)
                tile[i * padded_cols + j] = j < cols ? c[i * g.c_stride + j] : 0.0f;
        for (std::int64_t j = 0; j < padded_cols && bias; ++j)
            bias_tile[j] = j < cols ? bias[j] : 0.0f;
        micro(a, piece.stride, b, k * 16, k1 - k0, tile, padded_cols, from_c,
              bias ? bias_tile : nullptr);
        for (std::int64_t i = 0; i < rows; ++i)
            std::copy_n(tile + i * padded_cols, cols, c + i * g.c_stride);
    }
    if (last) FinishTile(g.epilogue, row, col, c, g.c_stride, rows, cols);
}

// k in pieces of about 256: a panel's piece (16 KB) stays in L1 while the strips pass over it. The
// sums pass through C in between, which is exact.
std::int64_t k_step(std::int64_t rows, std::int64_t k) {
    if (rows <= full_rows || k <= 384) return k;
    const std::int64_t pieces = (k + 255) / 256;
    return (k + pieces - 1) / pieces;
}

// A's piece where it lies, if a strip can read it there: not where it must be transposed, nor where
// its rows are a multiple of 2 KB apart (a strip of them would fight for one or two sets of L1).
APiece PrepareA(const GemmBlock& g, std::int64_t k0, std::int64_t k1) {
    const bool crowded = g.rows > full_rows && g.a_stride % 512 == 0;
    if (!g.a_transposed && !crowded) return {g.a + k0, g.a_stride};
    const std::int64_t steps = k1 - k0, stride = (steps + 31) / 16 * 16;
    auto* copy = static_cast<float*>(
        block_scratch(static_cast<std::size_t>(g.rows * stride) * sizeof(float)));
    if (g.a_transposed) {
        Transpose(g.a + k0 * g.a_stride, g.a_stride, steps, g.rows, copy, stride);
    } else {
        for (std::int64_t i = 0; i < g.rows; ++i)
            std::copy_n(g.a + i * g.a_stride + k0, steps, copy + i * stride);
    }
    return {copy, stride};
}

}  // namespace

void F32Block(const GemmBlock& g) {
    const std::int64_t k = g.b->k(), step = k_step(g.rows, k);
    const int at_once = panels_at_once(g.rows);
    std::int64_t k0 = 0;
    do {
        const std::int64_t k1 = std::min(k, k0 + step);
        const APiece piece = PrepareA(g, k0, k1);
        for (std::int64_t col = 0; col < g.cols;) {
            const std::int64_t left = (g.cols - col + 15) / 16;
            const int panels = left >= at_once ? at_once : left >= full_panels ? full_panels : 1;
            const std::int64_t padded = panels * 16, cols = std::min(padded, g.cols - col);
            for (std::int64_t row = 0; row < g.rows;) {
                // Strips of nearly equal height: none is left with too few chains.
                const std::int64_t rows_left = g.rows - row;
                const std::int64_t strips = (rows_left + full_rows - 1) / full_rows;
                const std::int64_t rows = (rows_left + strips - 1) / strips;
                Tile(micro_for(rows, panels), g, piece, row, rows, col, cols, padded, k0, k1);
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
HWY_EXPORT(F32Block);
BlockKernels f32_kernels() { return {.block = FOVEA_DISPATCH(F32Block)}; }
}  // namespace fovea::kernels
#endif
