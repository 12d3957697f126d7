#include "fovea/kernels/rows/square_sum.h"

#include <algorithm>
#include <vector>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernels/rows/square_sum.cpp"
#include "fovea/kernels/simd_targets.h"

#include "hwy/foreach_target.h"

#include "hwy/highway.h"

#include "fovea/kernels/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernels::HWY_NAMESPACE {

// Element i goes to lane i mod 16; a square of 24-bit numbers is exact in double, so that adding it
// by fma or not is the same.
double square_sum_piece(const float* x, std::int64_t n) {
    const hn::CappedTag<double, 16> d;
    const hn::Rebind<float, decltype(d)> df;
    constexpr std::size_t lanes = HWY_MIN(HWY_LANES(double), 16);
    constexpr std::size_t parts = 16 / lanes;
    hn::Vec<decltype(d)> sum[parts];
    for (std::size_t p = 0; p < parts; ++p) sum[p] = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (std::size_t p = 0; p < parts; ++p) {
            const auto v = hn::PromoteTo(d, hn::LoadU(df, x + i + p * lanes));
            sum[p] = Fma(v, v, sum[p]);
        }
    double all[16];
    for (std::size_t p = 0; p < parts; ++p) hn::StoreU(sum[p], d, all + p * lanes);
    for (; i < n; ++i) all[i % 16] += static_cast<double>(x[i]) * x[i];
    for (std::size_t half = 8; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) all[k] += all[k + half];
    return all[0];
}

}  // namespace fovea::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernels {
namespace {
HWY_EXPORT(square_sum_piece);
}

double square_sum(const float* x, std::int64_t n) {
    constexpr std::int64_t chunk = 1 << 15;
    const auto piece = FOVEA_DISPATCH(square_sum_piece);
    std::vector<double> sums(static_cast<std::size_t>(ceil_div(n, chunk)));
    parallel_for(ceil_div(n, chunk), 1, [&](std::int64_t c, std::int64_t) {
        sums[static_cast<std::size_t>(c)] = piece(x + c * chunk, std::min(chunk, n - c * chunk));
    });
    double total = 0;
    for (const double s : sums) total += s;
    return total;
}

}  // namespace fovea::kernels
#endif
