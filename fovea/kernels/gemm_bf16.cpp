// The bf16 product by f32 arithmetic, in the order of AMX's tdpbf16ps and bit-equal to it: per 32 k
// one chain of fused multiply-adds over the even and one over the odd k, both from 0, then
// c += even + odd. (AVX512-BF16's vdpbf16ps has half the speed of f32 FMA and another order.)
#include <algorithm>
#include <cstdint>

#include "fovea/kernels/gemm_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm_bf16.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/bf16-inl.h"
#include "fovea/kernels/gemm_epilogue-inl.h"
#include "fovea/kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace {

// Two chains an element: half as many rows as in f32.
#if HWY_TARGET == HWY_AVX3
inline constexpr int full_rows = 6, full_panels = 2;
#elif HWY_TARGET == HWY_SCALAR
inline constexpr int full_rows = 1, full_panels = 1;
#else
inline constexpr int full_rows = 3, full_panels = 1;
#endif

// C's tile [MR, NP·16] over `groups` times 32 k. Element (r, k) of A (rounded) at a + r·a_stride +
// k; panel p of B at b + p·panel_stride: per two k 16 pairs, the even k in the lower half.
template <int MR, int NP>
HWY_NOINLINE void Micro(const float* HWY_RESTRICT a, std::int64_t a_stride,
                        const Bf16* HWY_RESTRICT b, std::int64_t panel_stride, std::int64_t groups,
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
                const auto* pairs = reinterpret_cast<const std::uint32_t*>(
                    b + (v / parts) * panel_stride + (g * 16 + i) * 32);
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
        const bool start = g == 0 && !from_c;
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v) {
                float* at = c + r * c_stride + v * lanes;
                const Part16 before = start ? hn::Zero(d) : hn::LoadU(d, at);
                hn::StoreU(hn::Add(before, hn::Add(even[r][v], odd[r][v])), d, at);
            }
        }
    }
    if (!bias) return;
    for (int r = 0; r < MR; ++r)
        for (int v = 0; v < nv; ++v) {
            float* at = c + r * c_stride + v * lanes;
            hn::StoreU(hn::Add(hn::LoadU(d, at), hn::LoadU(d, bias + v * lanes)), d, at);
        }
}

using MicroFn = void (*)(const float*, std::int64_t, const Bf16*, std::int64_t, std::int64_t,
                         float*, std::int64_t, bool, const float*);

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
#endif
#if HWY_TARGET == HWY_AVX3
        case 4:
            return Micro<4, NP>;
        case 5:
            return Micro<5, NP>;
        case 6:
            return Micro<6, NP>;
#endif
    }
    return nullptr;
}

MicroFn micro_for(std::int64_t rows, int panels) {
#if HWY_TARGET != HWY_SCALAR
    if (rows == 1 && panels == 2 * full_panels) return Micro<1, 2 * full_panels>;
#endif
    return panels == full_panels ? micro_of<full_panels>(rows) : micro_of<1>(rows);
}

// Rounds A's rows from k0 to k1 (k1 may lie in the padding of zeros) into scratch [rows, stride].
void RoundA(const GemmBlock& g, std::int64_t k0, std::int64_t k1, float* out, std::int64_t stride) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const std::int64_t steps = std::min(k1, g.b->k()) - k0;
    if (g.a_transposed) Transpose(g.a + k0 * g.a_stride, g.a_stride, steps, g.rows, out, stride);
    for (std::int64_t r = 0; r < g.rows; ++r) {
        float* to = out + r * stride;
        const float* from = g.a_transposed ? to : g.a + r * g.a_stride + k0;
        std::int64_t i = 0;
        for (; i + lanes <= steps; i += lanes)
            hn::StoreU(RoundToBf16(d, hn::LoadU(d, from + i)), d, to + i);
        if (i < steps)
            StoreSome(RoundToBf16(d, LoadSome(d, from + i, steps - i)), d, to + i, steps - i);
        std::fill(to + steps, to + (k1 - k0), 0.0f);
    }
}

struct Piece {
    const float* a;
    std::int64_t a_stride, k0, k1;
};

void Tile(MicroFn micro, const GemmBlock& g, const Piece& piece, std::int64_t row,
          std::int64_t rows, std::int64_t col, std::int64_t cols, std::int64_t padded_cols) {
    const std::int64_t k = g.b->padded_k(), groups = (piece.k1 - piece.k0) / 32;
    const float* a = piece.a + row * piece.a_stride;
    const Bf16* b = g.b->bf16_panel(g.first_panel + col / 16) + piece.k0 * 16;
    float* c = g.c + row * g.c_stride + col;
    const bool from_c = piece.k0 > 0 || g.epilogue.accumulate, last = piece.k1 == k;
    const float* bias = last && g.epilogue.bias ? g.epilogue.bias + col : nullptr;
    if (cols == padded_cols) {
        micro(a, piece.a_stride, b, k * 16, groups, c, g.c_stride, from_c, bias);
    } else {  // through a tile of full width
        HWY_ALIGN float tile[full_rows * 32 * full_panels], bias_tile[32 * full_panels];
        for (std::int64_t i = 0; i < rows && from_c; ++i)
            for (std::int64_t j = 0; j < padded_cols; ++j)
                tile[i * padded_cols + j] = j < cols ? c[i * g.c_stride + j] : 0.0f;
        for (std::int64_t j = 0; j < padded_cols && bias; ++j)
            bias_tile[j] = j < cols ? bias[j] : 0.0f;
        micro(a, piece.a_stride, b, k * 16, groups, tile, padded_cols, from_c,
              bias ? bias_tile : nullptr);
        for (std::int64_t i = 0; i < rows; ++i)
            std::copy_n(tile + i * padded_cols, cols, c + i * g.c_stride);
    }
    if (last) FinishTile(g.epilogue, row, col, c, g.c_stride, rows, cols);
}

}  // namespace

void Bf16Block(const GemmBlock& g) {
    const std::int64_t k = g.b->padded_k();
    // A panel's piece of 512 k (16 KB) stays in L1 while the strips of A pass.
    const std::int64_t step = g.rows <= full_rows ? k : std::min<std::int64_t>(k, 512);
    const std::int64_t a_stride = step + 16;
    auto* rounded = static_cast<float*>(
        block_scratch(static_cast<std::size_t>(g.rows * a_stride) * sizeof(float)));
    const int at_once = (g.rows == 1 && full_rows > 1 ? 2 : 1) * full_panels;
    std::int64_t k0 = 0;
    do {
        const std::int64_t k1 = std::min(k, k0 + step);
        RoundA(g, k0, k1, rounded, a_stride);
        const Piece piece{rounded, a_stride, k0, k1};
        for (std::int64_t col = 0; col < g.cols;) {
            const std::int64_t left = (g.cols - col + 15) / 16;
            const int panels = left >= at_once ? at_once : left >= full_panels ? full_panels : 1;
            const std::int64_t padded = panels * 16, cols = std::min(padded, g.cols - col);
            for (std::int64_t row = 0; row < g.rows;) {
                const std::int64_t rows_left = g.rows - row;
                const std::int64_t strips = (rows_left + full_rows - 1) / full_rows;
                const std::int64_t rows = (rows_left + strips - 1) / strips;
                Tile(micro_for(rows, panels), g, piece, row, rows, col, cols, padded);
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
BlockKernel bf16_block_kernel() { return FOVEA_DISPATCH(Bf16Block); }
}  // namespace fovea::kernels
#endif
