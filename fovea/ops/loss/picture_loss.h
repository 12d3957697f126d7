#pragma once
// Losses of things found in pictures: boxes, centres, masks. Targets are data: they get no
// gradient. All are sums in double, in the order of the rows, divided by `divisor` (1: the sum
// itself).
#include "fovea/tensor/tensor.h"

namespace fovea {

struct BoxLossOptions {
    float l1 = 5, giou = 2;  // weights of both parts (Carion et al. 2020, §A.4)
    float divisor = 1;       // the number of things, usually
};

// Boxes [n, 4] as (centre x, centre y, width, height):
//   l1 · Σ |x − t| + giou · Σ (1 − GIoU(x, t))
// GIoU = |A ∩ B| / |A ∪ B| − |C − A ∪ B| / |C|, C the smallest box around both (Rezatofighi et al.
// 2019). Widths and heights must be positive. Result [1].
Tensor box_loss(const Tensor& x, const Tensor& target, const BoxLossOptions& options = {});

// GIoU of two such boxes, four numbers each: −1 … 1.
double generalised_iou(const float* box, const float* other);

struct FocalLossOptions {
    float alpha = 0.25f, gamma = 2;  // Lin et al. 2017, eq. 5
    float divisor = 1;
};

//   − Σ α_t (1 − p_t)^γ log p_t,  p = σ(x),  p_t = p where t = 1 and 1 − p where t = 0
// Same shapes; targets are 0 or 1. Result [1].
Tensor focal_loss(const Tensor& x, const Tensor& target, const FocalLossOptions& options = {});

// One mask a row, p = σ(x):  Σ_rows 1 − (2 Σ p t + 1) / (Σ p + Σ t + 1)   (Milletari et al. 2016)
// Same shapes; targets in [0, 1]. Result [1].
Tensor dice_loss(const Tensor& x, const Tensor& target, float divisor = 1);

}  // namespace fovea
