#include "fovea/kernels/gemm.h"

#include <algorithm>
#include <cassert>

#include "fovea/base/threads.h"
#include "fovea/kernels/gemm_block.h"
#include "fovea/kernels/gemm_plan.h"

namespace fovea::kernels {
namespace {

void multiply(ConstView a, bool a_transposed, const PackedMatrix& b, View c,
              const GemmOptions& options, BlockKernel kernel) {
    const std::int64_t m = c.rows, n = c.cols;
    assert((a_transposed ? a.cols : a.rows) == m && (a_transposed ? a.rows : a.cols) == b.k());
    assert(b.n() == n);
    assert(!options.bias.data || options.bias.size() == n);
    assert(!options.pre.data || (options.pre.rows == m && options.pre.cols == n));
    if (m == 0 || n == 0) return;
    if (b.k() == 0) kernel = f32_block_kernel();  // nothing to multiply: any way out will do
    const int value_bytes = b.format() == Format::f32 ? 4 : b.format() == Format::bf16 ? 2 : 1;
    const GemmPlan plan = plan_gemm(m, b.panels(), b.k(), value_bytes);
    parallel_for(plan.tasks(), 1, [&](std::int64_t task, std::int64_t) {
        // Rows fastest: tasks that run at the same time share their panels of B.
        const std::int64_t r0 = task % plan.row_tasks * plan.rows_per_task;
        const std::int64_t p0 = task / plan.row_tasks * plan.panels_per_task,
                           c0 = p0 * panel_columns;
        GemmBlock g;
        g.a = a_transposed ? a.data + r0 : a.row(r0);
        g.a_stride = a.stride;
        g.a_transposed = a_transposed;
        g.b = &b;
        g.first_panel = p0;
        g.rows = std::min(plan.rows_per_task, m - r0);
        g.cols = std::min(plan.panels_per_task * panel_columns, n - c0);
        g.c = c.row(r0) + c0;
        g.c_stride = c.stride;
        g.epilogue.bias = options.bias.data ? options.bias.data + c0 : nullptr;
        g.epilogue.act = options.act;
        g.epilogue.pre = options.pre.data ? options.pre.row(r0) + c0 : nullptr;
        g.epilogue.pre_stride = options.pre.stride;
        g.epilogue.accumulate = options.accumulate;
        kernel(g);
    });
}

BlockKernel kernel_for(Format format) {
    switch (format) {
        case Format::f32:
            return f32_block_kernel();
        case Format::bf16:
            return bf16_block_kernel();
        case Format::int8:
            return int8_block_kernel();
    }
    return nullptr;
}

}  // namespace

void gemm(Trans ta, Trans tb, ConstView a, ConstView b, View c, const GemmOptions& options) {
    // The caller's own memory for packed B, kept from call to call.
    thread_local PackedMatrix packed;
    packed.assign(b, tb, options.precision == Precision::f32 ? Format::f32 : Format::bf16);
    multiply(a, ta == Trans::yes, packed, c, options, kernel_for(packed.format()));
}

void gemm_packed(ConstView x, const PackedMatrix& w, View y, const GemmOptions& options) {
    assert(w.format() != Format::int8 || !options.accumulate);
    multiply(x, false, w, y, options, kernel_for(w.format()));
}

}  // namespace fovea::kernels
