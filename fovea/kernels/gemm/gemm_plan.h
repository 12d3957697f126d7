#pragma once
// How a product is cut into tasks: by its sizes alone. Each task owns a block of C and the whole of
// k, so that the cut changes nothing but speed.
#include <cstdint>

namespace fovea::kernels {

struct GemmPlan {
    std::int64_t rows_per_task = 0, row_tasks = 0;
    std::int64_t panels_per_task = 0, col_tasks = 0;  // panels of 16 columns
    std::int64_t tasks() const { return row_tasks * col_tasks; }
};

// bytes_per_value: of packed B.
GemmPlan plan_gemm(std::int64_t rows, std::int64_t panels, std::int64_t k, int bytes_per_value);

// For AMX: a block of A, converted, lives in L2 (2 MB) while B passes, and rows come in sixteens.
GemmPlan plan_amx(std::int64_t rows, std::int64_t panels, std::int64_t k, int bytes_per_value);

}  // namespace fovea::kernels
