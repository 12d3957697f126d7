#include "fovea/kernels/log_energy.h"

#include <algorithm>
#include <vector>

#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/log_energy.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

struct LogEnergy {
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        return hn::Mul(hn::Set(d, 0.43429448190325182f), Log(d, hn::Max(x, hn::Set(d, 1e-10f))));
    }
};

// Gives the largest.
float LogEnergyPiece(const float* x, float* y, std::int64_t n) {
    Map(n, y, LogEnergy(), x);
    const hn::ScalableTag<float> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    auto tops = hn::Set(d, -10.0f);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) tops = hn::Max(tops, hn::LoadU(d, y + i));
    float top = hn::GetLane(hn::MaxOfLanes(d, tops));
    for (; i < n; ++i) top = HWY_MAX(top, y[i]);
    return top;
}

struct EnergyScale {
    float low;
    template <class D, class V>
    HWY_INLINE V operator()(D d, V x) const {
        return hn::Mul(hn::Add(hn::Max(x, hn::Set(d, low)), hn::Set(d, 4.0f)), hn::Set(d, 0.25f));
    }
};

void EnergyScalePiece(float* y, std::int64_t n, float low) { Map(n, y, EnergyScale{low}, y); }

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
HWY_EXPORT(LogEnergyPiece);
HWY_EXPORT(EnergyScalePiece);

void log_energy(const float* x, float* y, std::int64_t n) {
    const auto logarithms = FOVEA_DISPATCH(LogEnergyPiece);
    const auto scale = FOVEA_DISPATCH(EnergyScalePiece);
    constexpr std::int64_t block = 1 << 13;
    const std::int64_t blocks = (n + block - 1) / block;
    std::vector<float> tops(static_cast<std::size_t>(blocks));
    const auto each = [&](std::int64_t begin, std::int64_t end, const auto& body) {
        for (std::int64_t b = begin; b < end; ++b)
            body(b, b * block, std::min(block, n - b * block));
    };
    parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        each(begin, end, [&](std::int64_t b, std::int64_t at, std::int64_t some) {
            tops[static_cast<std::size_t>(b)] = logarithms(x + at, y + at, some);
        });
    });
    const float low = *std::max_element(tops.begin(), tops.end()) - 8;
    parallel_for(blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        each(begin, end,
             [&](std::int64_t, std::int64_t at, std::int64_t some) { scale(y + at, some, low); });
    });
}

}  // namespace fovea::kernels
#endif
