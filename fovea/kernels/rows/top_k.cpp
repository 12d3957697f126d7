#include "fovea/kernels/rows/top_k.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/rows/top_k.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t block = 64;  // columns looked at together

float block_max(const float* x, std::int64_t n) {
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    float best = -std::numeric_limits<float>::infinity();
    std::int64_t i = 0;
    if (n >= lanes) {
        auto m = hn::LoadU(d, x);
        for (i = lanes; i + lanes <= n; i += lanes) m = hn::Max(m, hn::LoadU(d, x + i));
        best = hn::GetLane(hn::MaxOfLanes(d, m));
    }
    for (; i < n; ++i) best = x[i] > best ? x[i] : best;
    return best;
}

// Keeps ids[0, k) sorted by (value, lower id). Most blocks hold nothing above the k-th best.
void top_k_row(const float* x, std::int64_t n, std::int64_t k, std::int32_t* ids) {
    std::int64_t have = 0;
    for (std::int64_t b = 0; b < n; b += block) {
        const std::int64_t e = std::min(n, b + block);
        if (have == k && !(block_max(x + b, e - b) > x[ids[k - 1]])) continue;
        for (std::int64_t i = b; i < e; ++i) {
            if (have == k && !(x[i] > x[ids[k - 1]])) continue;
            std::int64_t at = have < k ? have++ : k - 1;
            for (; at > 0 && x[i] > x[ids[at - 1]]; --at) ids[at] = ids[at - 1];
            ids[at] = static_cast<std::int32_t>(i);
        }
    }
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(top_k_row);

void top_k(ConstView logits, std::int64_t k, std::int32_t* ids) {
    assert(k >= 0 && k <= logits.cols);
    if (k == 0) return;
    const auto best = FOVEA_DISPATCH(top_k_row);
    parallel_for(logits.rows, 4, [&](std::int64_t b, std::int64_t e) {
        for (std::int64_t r = b; r < e; ++r) {
            best(logits.row(r), logits.cols, k, ids + r * k);
        }
    });
}

}  // namespace fovea::kernels
#endif
