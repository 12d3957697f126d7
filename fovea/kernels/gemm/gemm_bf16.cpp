// The bf16 product without tiles, in the order of AMX's tdpbf16ps and bit-equal to it: per 32 k one
// chain of fused multiply-adds over the even and one over the odd k, both from 0, then
// c += even + odd. By f32 arithmetic; or, where AVX512-BF16 is, by vdpbf16ps, which adds two
// products one after the other: handed two neighbours of one chain it is two steps of it, at twice
// the speed of f32 on a Zen 4 (Intel's has half the rate, and so f32's speed).
#include <algorithm>
#include <cstdint>

#include "fovea/kernels/gemm/gemm_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm/gemm_bf16.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/gemm/gemm_bf16_micro-inl.h"
#include "fovea/kernels/gemm/gemm_epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace {

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

// The same for Form::pairs: two values a word.
void PairRows([[maybe_unused]] const PrepareTask& t, [[maybe_unused]] std::int64_t k0,
              [[maybe_unused]] std::int64_t k1, [[maybe_unused]] float* out,
              [[maybe_unused]] std::int64_t stride) {
#if HWY_TARGET == HWY_AVX3
    const std::int64_t count = std::min(k1, t.k) - k0;
    if (t.a_transposed) {
        for (std::int64_t r = 0; r < t.rows; r += 16)
            PairColumns(t.a + k0 * t.a_stride + r, t.a_stride, count, k1 - k0,
                        std::min<std::int64_t>(16, t.rows - r), out + r * stride, stride);
        return;
    }
    for (std::int64_t r = 0; r < t.rows; ++r)
        PairRow(t.a + r * t.a_stride + k0, count, k1 - k0, out + r * stride);
#endif
}

// A prepared row: words of rounded values and a gap, so that rows do not fall into the same sets of
// L1.
inline constexpr std::int64_t row_gap = 16;

std::int64_t words_of(Form form, std::int64_t k) { return form == Form::pairs ? k / 2 : k; }

void PrepareRows(Form form, const PrepareTask& t, std::int64_t k0, std::int64_t k1, float* out,
                 std::int64_t stride) {
    return form == Form::pairs ? PairRows(t, k0, k1, out, stride)
                               : RoundRows(t, k0, k1, out, stride);
}

// A panel's piece in the form's own layout.
void PreparePanel([[maybe_unused]] Form form, const Bf16* b, std::int64_t groups, float* out) {
#if HWY_TARGET == HWY_AVX3
    if (form == Form::pairs) return PairPanel(b, groups, reinterpret_cast<Bf16*>(out));
#endif
    SpreadPanel(b, groups, out);
}

// Operands of the tiles of one piece of k and one group of panels.
struct Piece {
    const float* a;  // words
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

void MultiplyBlock(const GemmBlock& g, Form form) {
    const std::int64_t k = g.b->padded_k();
    const bool copied = form != Form::direct;
    const std::int64_t strip = form == Form::pairs    ? pairs_rows
                               : form == Form::spread ? spread_rows
                                                      : direct_rows;
    // A panel's own piece (256 k: 16 KB spread out, 8 KB in pairs) stays in L1 while the strips of
    // A pass.
    const std::int64_t step = std::min<std::int64_t>(k, copied                  ? 256
                                                        : g.rows <= direct_rows ? k
                                                                                : 512);
    const std::int64_t a_stride = words_of(form, g.a_prepared ? k : step) + row_gap;
    const std::int64_t panel_words = copied ? words_of(form, step) * 16 : 0;
    const std::int64_t own_words = g.a_prepared ? 0 : g.rows * a_stride;
    auto* scratch = static_cast<float*>(block_scratch(
        static_cast<std::size_t>(full_panels * panel_words + own_words) * sizeof(float)));
    float* own = scratch + full_panels * panel_words;
    const int at_once = (!copied && g.rows == 1 && direct_rows > 1 ? 2 : 1) * full_panels;
    std::int64_t k0 = 0;
    do {
        const std::int64_t k1 = std::min(k, k0 + step);
        const float* rows_of_a = own;
        if (g.a_prepared)
            rows_of_a = reinterpret_cast<const float*>(g.a_prepared) + words_of(form, k0);
        else
            PrepareRows(form, {g.a, g.a_stride, g.a_transposed, g.rows, g.b->k(), k}, k0, k1, own,
                        a_stride);
        for (std::int64_t col = 0; col < g.cols;) {
            const std::int64_t left = (g.cols - col + 15) / 16;
            const int panels = left >= at_once ? at_once : left >= full_panels ? full_panels : 1;
            const std::int64_t padded = panels * 16, cols = std::min(padded, g.cols - col);
            const std::int64_t panel = g.first_panel + col / 16;
            Piece piece{rows_of_a, a_stride, g.b->bf16_panel(panel) + k0 * 16, k * 16, k0, k1};
            if (copied) {
                for (int p = 0; p < panels; ++p)
                    PreparePanel(form, g.b->bf16_panel(panel + p) + k0 * 16, (k1 - k0) / 32,
                                 scratch + p * panel_words);
                piece.b = scratch;
                piece.panel_stride = step * 16;
            }
            for (std::int64_t row = 0; row < g.rows;) {
                const std::int64_t strips = (g.rows - row + strip - 1) / strip;
                const std::int64_t rows = (g.rows - row + strips - 1) / strips;
                Tile(micro_for(form, rows, panels), g, piece, row, rows, col, cols, padded);
                row += rows;
            }
            col += padded;
        }
        k0 = k1;
    } while (k0 < k);
}

}  // namespace

void PrepareBf16(const PrepareTask& t) {
    RoundRows(t, 0, t.padded_k, reinterpret_cast<float*>(t.out), t.padded_k + row_gap);
}

void Bf16Block(const GemmBlock& g) {
    // Spreading a panel is worth its while from about one strip of rows on.
    MultiplyBlock(g, g.rows > 6 && HWY_TARGET != HWY_SCALAR ? Form::spread : Form::direct);
}

// Only called where AVX512-BF16 is.
void PrepareBf16Pairs(const PrepareTask& t) {
    PairRows(t, 0, t.padded_k, reinterpret_cast<float*>(t.out), t.padded_k / 2 + row_gap);
}

void Bf16PairsBlock(const GemmBlock& g) { MultiplyBlock(g, Form::pairs); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(Bf16Block);
HWY_EXPORT(PrepareBf16);
HWY_EXPORT(Bf16PairsBlock);
HWY_EXPORT(PrepareBf16Pairs);

BlockKernels bf16_kernels(std::int64_t rows, std::int64_t padded_k) {
    // Few rows wait for memory, and read B as it lies.
    if (has_avx512_bf16() && rows > 6)
        return {.block = FOVEA_DISPATCH(Bf16PairsBlock),
                .prepare = FOVEA_DISPATCH(PrepareBf16Pairs),
                .prepared_row_bytes = (padded_k / 2 + 16) * 4};
    return {.block = FOVEA_DISPATCH(Bf16Block),
            .prepare = FOVEA_DISPATCH(PrepareBf16),
            .prepared_row_bytes = (padded_k + 16) * 4};
}
}  // namespace fovea::kernels
#endif
