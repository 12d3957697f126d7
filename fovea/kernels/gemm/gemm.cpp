#include "fovea/kernels/gemm/gemm.h"

#include <algorithm>
#include <cassert>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"
#include "fovea/kernels/aligned_buffer.h"
#include "fovea/kernels/gemm/gemm_block.h"
#include "fovea/kernels/gemm/gemm_plan.h"
#include "fovea/kernels/isa.h"

namespace fovea::kernels {
namespace {

// A for all blocks, where several of them share their rows.
struct SharedA {
    const unsigned char* rows = nullptr;
    const float* scales = nullptr;
};

SharedA prepare_shared(ConstView a, bool a_transposed, const PackedMatrix& b, std::int64_t m,
                       const BlockKernels& kernels) {
    thread_local AlignedBuffer row_buffer, scale_buffer;
    const std::int64_t unit = kernels.row_unit, bytes = kernels.prepared_row_bytes;
    auto* out = row_buffer.reserve<unsigned char>(round_up(m, unit) * bytes);
    auto* scales = scale_buffer.reserve<float>(round_up(m, unit));
    const std::int64_t grain = std::max<std::int64_t>(1, (64 << 10) / (bytes * unit));
    parallel_for(ceil_div(m, unit), grain, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t row = begin * unit;
        kernels.prepare({a_transposed ? a.data + row : a.row(row), a.stride, a_transposed,
                         std::min(m, end * unit) - row, b.k(), b.padded_k(), out + row * bytes,
                         scales + row, levels_of(b.format())});
    });
    return {out, scales};
}

// Beyond this an output is gone from the caches before anyone reads it: fetching its lines in order
// to overwrite them only costs bandwidth.
constexpr std::int64_t stream_bytes = 16 << 20;

bool worth_streaming(View c, const GemmOptions& options) {
    return c.size() * 4 > stream_bytes && !options.accumulate && c.stride % 16 == 0 &&
           reinterpret_cast<std::uintptr_t>(c.data) % 64 == 0;
}

}  // namespace

void multiply_by_blocks(ConstView a, bool a_transposed, const PackedMatrix& b, View c,
                        const GemmOptions& options, const BlockKernels& kernels) {
    const std::int64_t m = c.rows, n = c.cols;
    assert((a_transposed ? a.cols : a.rows) == m && (a_transposed ? a.rows : a.cols) == b.k());
    assert(b.n() == n);
    assert(!options.bias.data || options.bias.size() == n);
    assert(!options.pre.data || (options.pre.rows == m && options.pre.cols == n));
    if (m == 0 || n == 0) return;
    const int value_bytes = b.format() == Format::f32 ? 4 : b.format() == Format::bf16 ? 2 : 1;
    const GemmPlan plan = kernels.tiles ? plan_amx(m, b.panels(), b.padded_k(), value_bytes)
                                        : plan_gemm(m, b.panels(), b.k(), value_bytes);
    SharedA shared;
    if (kernels.prepare && plan.col_tasks > 1)
        shared = prepare_shared(a, a_transposed, b, m, kernels);
    const bool stream = kernels.tiles && worth_streaming(c, options);

    parallel_for(plan.tasks(), 1, [&](std::int64_t task, std::int64_t) {
        // Rows fastest: tasks that run at the same time share their panels of B.
        const std::int64_t r0 = task % plan.row_tasks * plan.rows_per_task;
        const std::int64_t p0 = task / plan.row_tasks * plan.panels_per_task;
        const std::int64_t c0 = p0 * panel_columns;
        GemmBlock g;
        g.a = a_transposed ? a.data + r0 : a.row(r0);
        g.a_stride = a.stride;
        g.a_transposed = a_transposed;
        if (shared.rows) {
            g.a_prepared = shared.rows + r0 * kernels.prepared_row_bytes;
            g.a_scales = shared.scales + r0;
        }
        g.b = &b;
        g.first_panel = p0;
        g.rows = std::min(plan.rows_per_task, m - r0);
        g.cols = std::min(plan.panels_per_task * panel_columns, n - c0);
        g.c = c.row(r0) + c0;
        g.c_stride = c.stride;
        g.stream = stream;
        // With rows fastest, this thread's next block is about thread_count() blocks further on.
        const std::int64_t next_row = r0 + plan.rows_per_task * thread_count();
        if (kernels.tiles && !shared.rows && next_row < m) {
            const std::int64_t rows = std::min(plan.rows_per_task, m - next_row);
            g.next_a.at =
                reinterpret_cast<const char*>(a_transposed ? a.data + next_row : a.row(next_row));
            g.next_a.stride = a.stride * 4;
            g.next_a.bytes = (a_transposed ? rows : b.k()) * 4;
            g.next_a.lines = a_transposed ? b.k() : rows;
        }
        g.epilogue.bias = options.bias.data ? options.bias.data + c0 : nullptr;
        g.epilogue.act = options.act;
        g.epilogue.pre = options.pre.data ? options.pre.row(r0) + c0 : nullptr;
        g.epilogue.pre_stride = options.pre.stride;
        g.epilogue.accumulate = options.accumulate;
        kernels.block(g);
    });
}

namespace {

BlockKernels kernels_for(const PackedMatrix& b, std::int64_t rows) {
    if (b.format() == Format::f32 || b.k() == 0) return f32_kernels();
    if (active_isa() == Isa::amx) return amx_kernels(b.format(), b.padded_k());
    return b.format() == Format::bf16 ? bf16_kernels(rows, b.padded_k())
                                      : int8_kernels(b.padded_k());
}

}  // namespace

void gemm(Trans ta, Trans tb, ConstView a, ConstView b, View c, const GemmOptions& options) {
    // The caller's own memory for packed B, kept from call to call.
    thread_local PackedMatrix packed;
    packed.assign(b, tb, options.precision == Precision::f32 ? Format::f32 : Format::bf16);
    multiply_by_blocks(a, ta == Trans::yes, packed, c, options, kernels_for(packed, c.rows));
}

void gemm_packed(ConstView x, const PackedMatrix& w, View y, const GemmOptions& options) {
    assert(!is_whole(w.format()) || !options.accumulate);
    multiply_by_blocks(x, false, w, y, options, kernels_for(w, y.rows));
}

}  // namespace fovea::kernels
