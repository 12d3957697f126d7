#pragma once
// AdamW (Loshchilov & Hutter 2019): Adam with bias correction and decoupled weight decay, one pass.
#include <cstdint>
#include <span>

#include "fovea/base/update_step.h"
#include "fovea/base/view.h"

namespace fovea::kernels {

//   m ← β₁ m + (1 − β₁) g    v ← β₂ v + (1 − β₂) g²
//   w ← w − rate · decay · w − rate · m̂ / (√v̂ + eps),  m̂ = m / (1 − β₁ᵗ), v̂ = v / (1 − β₂ᵗ)
void adamw(float* w, const float* g, float* m, float* v, std::int64_t n, const AdamStep& step);

// The same for some rows of tables [any, cols]: row i of g belongs to row rows[i] of w, m and v,
// and no row is named twice. The others keep their weights and moments.
struct AdamTables {
    float *w, *m, *v;
};
void adamw_rows(const AdamTables& tables, ConstView g, std::span<const std::int32_t> rows,
                const AdamStep& step);

// The numbers of a step as the inner loop wants them, made once in double.
struct AdamNumbers {
    float keep;          // 1 − rate · decay
    float beta1, rest1;  // β₁, 1 − β₁
    float beta2, rest2;  // β₂, 1 − β₂
    float rate;          // rate / (1 − β₁ᵗ)
    float root;          // 1 / √(1 − β₂ᵗ)
    float eps, gradient_scale;
};

}  // namespace fovea::kernels
