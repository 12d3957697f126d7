// The f32 product: one chain of fused multiply-adds an element, lanes along the columns of C.
#include <algorithm>
#include <cstdint>

#include "fovea/kernels/gemm/gemm_block.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/gemm/gemm_f32.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/gemm/gemm_epilogue-inl.h"
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

// One strip of rows times a few panels.
struct Task {
    const float* a;  // element (r, k) at a + r·a_stride + k
    std::int64_t a_stride;
    const float* b;  // panel p at b + p·panel_stride, 16 values per step
    std::int64_t panel_stride;
    std::int64_t steps;
    float* c;
    std::int64_t c_stride;
    bool from_c;        // the chains go on from what C holds
    const float* bias;  // null: none, or not yet
    const char* ahead;  // what will be read soon: some lines of it are fetched every four steps
    std::int64_t ahead_step;
    int ahead_lines;
};

// C's tile [MR, NP·16].
template <int MR, int NP>
HWY_NOINLINE void Micro(const Task& t) {
    const Tag16 d;
    constexpr int parts = static_cast<int>(parts16), nv = NP * parts;
    constexpr auto lanes = static_cast<std::int64_t>(part_lanes);
    const float* HWY_RESTRICT a = t.a;
    const float* HWY_RESTRICT b = t.b;
    float* HWY_RESTRICT c = t.c;
    const std::int64_t a_stride = t.a_stride, c_stride = t.c_stride, steps = t.steps;
    Part16 sum[MR][nv];
    HWY_UNROLL(16)
    for (int r = 0; r < MR; ++r) {
        HWY_UNROLL(16)
        for (int v = 0; v < nv; ++v)
            sum[r][v] = t.from_c ? hn::LoadU(d, c + r * c_stride + v * lanes) : hn::Zero(d);
    }
    const auto step = [&](std::int64_t i) HWY_ATTR {
        Part16 bv[nv];
        HWY_UNROLL(16)
        for (int v = 0; v < nv; ++v)
            bv[v] = hn::Load(d, b + (v / parts) * t.panel_stride + i * 16 + (v % parts) * lanes);
        HWY_UNROLL(16)
        for (int r = 0; r < MR; ++r) {
            const Part16 av = hn::Set(d, a[r * a_stride + i]);
            HWY_UNROLL(16)
            for (int v = 0; v < nv; ++v) sum[r][v] = Fma(av, bv[v], sum[r][v]);
        }
    };
    const char* ahead = t.ahead;
    std::int64_t i = 0;
    for (; i + 4 <= steps; i += 4) {
        HWY_UNROLL(1)
        for (int l = 0; l < t.ahead_lines; ++l) {
            __builtin_prefetch(ahead, 0, 2);
            ahead += t.ahead_step;
        }
        // Not unrolled: GCC would mix the steps, run out of registers and spill two sums, a trip
        // through memory within their chains.
        HWY_UNROLL(1)
        for (std::int64_t j = i; j < i + 4; ++j) step(j);
    }
    for (; i < steps; ++i) step(i);
    if (t.bias) {
        HWY_UNROLL(16)
        for (int v = 0; v < nv; ++v) {
            const Part16 add = hn::LoadU(d, t.bias + v * lanes);
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

using MicroFn = void (*)(const Task& task);

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

// The last columns of C, fewer than a panel has: through a tile of full width.
HWY_NOINLINE void Narrow(MicroFn micro, Task t, std::int64_t rows, std::int64_t cols,
                         std::int64_t width) {
    HWY_ALIGN float tile[full_rows * 64 * full_panels], bias[64 * full_panels];
    float* const c = t.c;
    for (std::int64_t i = 0; i < rows && t.from_c; ++i)
        for (std::int64_t j = 0; j < width; ++j)
            tile[i * width + j] = j < cols ? c[i * t.c_stride + j] : 0.0f;
    for (std::int64_t j = 0; j < width && t.bias; ++j) bias[j] = j < cols ? t.bias[j] : 0.0f;
    const std::int64_t c_stride = t.c_stride;
    t.c = tile;
    t.c_stride = width;
    if (t.bias) t.bias = bias;
    micro(t);
    for (std::int64_t i = 0; i < rows; ++i) std::copy_n(tile + i * width, cols, c + i * c_stride);
}

// Rows of A, k contiguous.
struct APiece {
    const float* data;
    std::int64_t stride;
};

// A where it lies, unless it must be transposed, or many panels pass over rows that lie a multiple
// of 4 KB apart (a strip of them would fight for one set of L1).
APiece PrepareA(const GemmBlock& g, std::int64_t k0, std::int64_t k1) {
    const bool crowded = g.rows > 4 && g.cols >= 256 && g.a_stride % 1024 == 0;
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

// Hands out what the strips should fetch while they multiply, some lines every four steps (a line
// a panel; twice as many where only two strips share the work): the panels that come next, then the
// next piece of a transposed A, whose rows the hardware does not see coming.
class Ahead {
public:
    Ahead(const GemmBlock& g, std::int64_t k0, std::int64_t k1, std::int64_t k2)
        : per_four_(g.rows > full_rows && g.rows <= 2 * full_rows ? 2 * full_panels : full_panels),
          lines_((k1 - k0) / 4 * per_four_) {
        if (!g.a_transposed || k2 <= k1 || lines_ == 0) return;
        a_ = g.a + k1 * g.a_stride;
        a_stride_ = g.a_stride;
        runs_ = (k2 - k1 + lines_ - 1) / lines_;
        a_jobs_ = runs_ * ((g.rows + 15) / 16);
    }
    void next_panels(const float* b, std::int64_t lines) {
        b_ = reinterpret_cast<const char*>(b);
        b_lines_ = lines;
    }
    void next(Task& t) {
        t.ahead_lines = per_four_;
        if (b_lines_ > 0) {
            t.ahead = b_;
            t.ahead_step = 64;
            b_ += lines_ * 64;
            b_lines_ -= lines_;
        } else if (a_job_ < a_jobs_) {  // 16 columns of some rows of A
            t.ahead = reinterpret_cast<const char*>(a_ + a_job_ % runs_ * lines_ * a_stride_ +
                                                    a_job_ / runs_ * 16);
            t.ahead_step = a_stride_ * 4;
            ++a_job_;
        } else {
            t.ahead_step = 0;
        }
    }

private:
    int per_four_;        // lines that a strip fetches every four steps,
    std::int64_t lines_;  // and in all
    const char* b_ = nullptr;
    std::int64_t b_lines_ = 0;
    const float* a_ = nullptr;
    std::int64_t a_stride_ = 0, runs_ = 1, a_jobs_ = 0, a_job_ = 0;
};

// All strips of the block over one group of panels and one piece of k.
void PanelGroup(const GemmBlock& g, APiece a, Ahead& ahead, std::int64_t col, std::int64_t width,
                int panels, std::int64_t k0, std::int64_t k1) {
    const std::int64_t k = g.b->k(), cols = std::min(width, g.cols - col);
    const float* b = g.b->f32_panel(g.first_panel + col / 16) + k0 * 16;
    Task t{.a = a.data,
           .a_stride = a.stride,
           .b = b,
           .panel_stride = k * 16,
           .steps = k1 - k0,
           .c = g.c + col,
           .c_stride = g.c_stride,
           .from_c = k0 > 0 || g.epilogue.accumulate,
           .bias = k1 == k && g.epilogue.bias ? g.epilogue.bias + col : nullptr,
           .ahead = reinterpret_cast<const char*>(b),
           .ahead_step = 0,
           .ahead_lines = 0};
    ahead.next_panels(b + width * k, (k1 - k0) * panels);
    for (std::int64_t row = 0; row < g.rows;) {
        // Strips of nearly equal height: none is left with too few chains.
        const std::int64_t strips = (g.rows - row + full_rows - 1) / full_rows;
        const std::int64_t rows = (g.rows - row + strips - 1) / strips;
        const MicroFn micro = micro_for(rows, panels);
        ahead.next(t);
        if (cols == width)
            micro(t);
        else
            Narrow(micro, t, rows, cols, width);
        if (k1 == k) FinishTile(g.epilogue, row, col, t.c, g.c_stride, rows, cols);
        row += rows;
        t.a += rows * a.stride;
        t.c += rows * g.c_stride;
    }
}

// k goes in pieces only where it is long: the sums pass through C in between, which is exact but
// not free, and the L1 cache need not hold a panel's piece (L2 keeps up with 64 bytes in six
// cycles).
std::int64_t k_step(const GemmBlock& g) {
    const std::int64_t k = g.b->k(), most = g.a_transposed ? 512 : 1024;
    if (g.rows <= full_rows || k <= most) return k;
    const std::int64_t pieces = (k + most - 1) / most;
    return (k + pieces - 1) / pieces;
}

}  // namespace

void F32Block(const GemmBlock& g) {
    const std::int64_t k = g.b->k(), step = k_step(g);
    const int at_once = panels_at_once(g.rows);
    std::int64_t k0 = 0;
    do {
        const std::int64_t k1 = std::min(k, k0 + step);
        const APiece a = PrepareA(g, k0, k1);
        Ahead ahead(g, k0, k1, std::min(k, k1 + step));
        for (std::int64_t col = 0; col < g.cols;) {
            const std::int64_t left = (g.cols - col + 15) / 16;
            const int panels = left >= at_once ? at_once : left >= full_panels ? full_panels : 1;
            PanelGroup(g, a, ahead, col, panels * 16, panels, k0, k1);
            col += panels * 16;
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
