#include "fovea/kernels/gemm/gemm_plan.h"

#include <algorithm>

#include "fovea/base/checked.h"

namespace fovea::kernels {
namespace {

// Nearly equal pieces of at most `most`, each a multiple of `unit`.
std::int64_t even_piece(std::int64_t n, std::int64_t most, std::int64_t unit) {
    const std::int64_t pieces = std::max<std::int64_t>(1, ceil_div(n, std::max(unit, most)));
    return round_up(ceil_div(n, pieces), unit);
}

}  // namespace

GemmPlan plan_gemm(std::int64_t rows, std::int64_t panels, std::int64_t k, int bytes_per_value) {
    GemmPlan plan;
    // A task should be worth some ten microseconds: 2^21 multiply-adds, or 128 KB of B to stream.
    const std::int64_t panel_bytes = std::max<std::int64_t>(1, k) * 16 * bytes_per_value;
    const std::int64_t panel_macs = std::max<std::int64_t>(1, k) * 16 * rows;
    const std::int64_t worth =
        std::max(ceil_div(panel_macs * panels, 1 << 21), ceil_div(panel_bytes * panels, 128 << 10));
    const std::int64_t wanted = std::min<std::int64_t>(worth, 32);

    // Many rows: strips of 6 or 12, few enough to share out evenly, over a group of panels that
    // tasks at work at the same time share in the outer cache. Else the columns are cut, so that
    // each panel is read once.
    constexpr std::int64_t tall = 48, group_bytes = 4 << 20;
    const bool many = rows > 256;
    plan.rows_per_task = many ? tall : std::max<std::int64_t>(1, rows);
    plan.row_tasks = std::max<std::int64_t>(1, ceil_div(rows, plan.rows_per_task));
    const std::int64_t group = std::max<std::int64_t>(4, group_bytes / panel_bytes);
    const std::int64_t col_pieces = std::max<std::int64_t>(1, ceil_div(wanted, plan.row_tasks));
    const std::int64_t unit = rows <= 3 ? 4 : many ? 1 : 2;
    plan.panels_per_task = even_piece(panels, std::min(group, ceil_div(panels, col_pieces)), unit);
    plan.col_tasks = std::max<std::int64_t>(1, ceil_div(panels, plan.panels_per_task));
    // Few columns: cut the rows instead.
    if (!many && plan.tasks() < wanted / 2 && rows > 12) {
        const std::int64_t pieces = std::min(ceil_div(wanted, plan.col_tasks), ceil_div(rows, 12));
        plan.rows_per_task = ceil_div(rows, pieces);
        plan.row_tasks = ceil_div(rows, plan.rows_per_task);
    }
    return plan;
}

GemmPlan plan_amx(std::int64_t rows, std::int64_t panels, std::int64_t k, int bytes_per_value) {
    GemmPlan plan;
    const std::int64_t row_bytes = std::max<std::int64_t>(1, k) * bytes_per_value;
    const std::int64_t tall =
        std::clamp<std::int64_t>((1 << 20) / row_bytes / 32 * 32, 64, 256);  // 1 MB of A
    plan.rows_per_task =
        rows <= tall ? round_up(std::max<std::int64_t>(1, rows), 16) : even_piece(rows, tall, 32);
    plan.row_tasks = std::max<std::int64_t>(1, ceil_div(rows, plan.rows_per_task));
    // Where the rows alone give few tasks, cut the columns too: tasks of 2^22 multiply-adds, or of
    // 128 KB of B to stream.
    const std::int64_t panel_macs = std::max<std::int64_t>(1, k) * 16 * rows;
    const std::int64_t worth = std::max(ceil_div(panel_macs * panels, 1 << 22),
                                        ceil_div(row_bytes * 16 * panels, 128 << 10));
    const std::int64_t wanted = std::min<std::int64_t>(worth, 16);
    const std::int64_t pieces = std::max<std::int64_t>(1, ceil_div(wanted, plan.row_tasks));
    plan.panels_per_task = even_piece(panels, ceil_div(panels, pieces), rows <= 16 ? 4 : 2);
    plan.col_tasks = std::max<std::int64_t>(1, ceil_div(panels, plan.panels_per_task));
    return plan;
}

}  // namespace fovea::kernels
