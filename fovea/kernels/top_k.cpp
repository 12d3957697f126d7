#include "fovea/kernels/top_k.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/top_k.cpp"
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

// eˣ⁻ᵐ, also for x = -infinity.
struct ExpShifted {
    float largest;
    template <class V>
    HWY_INLINE V operator()(V x) const {
        const hn::DFromV<V> d;
        const V low = hn::Set(d, -87.0f);  // below: nothing that f32 would notice beside e⁰
        const V y = hn::Sub(x, hn::Set(d, largest));
        return hn::IfThenElseZero(hn::Ge(y, low), Exp(d, hn::Max(y, low)));
    }
};

float log_sum_exp_row(const float* x, std::int64_t n) {
    float largest = -std::numeric_limits<float>::infinity();
    for (std::int64_t b = 0; b < n; b += block)
        largest = std::max(largest, block_max(x + b, std::min(block, n - b)));
    if (!(largest > -std::numeric_limits<float>::infinity())) return largest;
    F16 sum = Zero16();  // sixteen virtual lanes: the same bits on every level
    for (std::int64_t i = 0; i < n; i += 16) {
        const F16 v = n - i >= 16
                          ? Load16(x + i)
                          : LoadSome16(x + i, n - i, -std::numeric_limits<float>::infinity());
        sum = Add16(sum, Map16(ExpShifted{largest}, v));
    }
    const float total = Sum16(sum);
    const hn::CappedTag<float, 1> one;
    return largest + hn::GetLane(Log(one, hn::Set(one, total)));
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(top_k_row);
HWY_EXPORT(log_sum_exp_row);

void top_k(ConstView logits, std::int64_t k, std::int32_t* ids, float* log_sum_exp) {
    assert(k >= 0 && k <= logits.cols);
    const auto best = FOVEA_DISPATCH(top_k_row);
    const auto sum = FOVEA_DISPATCH(log_sum_exp_row);
    parallel_for(logits.rows, 4, [&](std::int64_t b, std::int64_t e) {
        for (std::int64_t r = b; r < e; ++r) {
            if (k > 0) best(logits.row(r), logits.cols, k, ids + r * k);
            log_sum_exp[r] = sum(logits.row(r), logits.cols);
        }
    });
}

}  // namespace fovea::kernels
#endif
