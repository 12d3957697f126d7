#pragma once
// The loops that lay out panels; pack.cpp splits the work over threads.
#include <cstdint>

#include "fovea/base/view.h"
#include "fovea/kernels/gemm/pack.h"

namespace fovea::kernels {

// Panels [begin, end) of W' = w or wᵀ, each [padded_k, 16] at out + panel·padded_k·16. f32 and bf16
// of w as it lies: of these panels the rows [first_k, last_k), so that a task reads whole rows.
struct PanelTask {
    ConstView w;
    Trans trans = Trans::no;
    std::int64_t k = 0, n = 0, padded_k = 0;
    std::int64_t begin = 0, end = 0;
    std::int64_t first_k = 0, last_k = 0;
    float levels = 127.0f;  // int8: the largest whole number
};

void pack_f32_panels(const PanelTask& task, float* out);
void pack_bf16_panels(const PanelTask& task, Bf16* out);
void pack_int8_panels(const PanelTask& task, std::int8_t* out, float* scales, std::int32_t* sums);

}  // namespace fovea::kernels
