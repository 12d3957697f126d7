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

constexpr std::int64_t chunk = 1 << 15;

// Halves are added to halves, as in square_sum_piece.
double sum_of_lanes(double* all) {
    for (std::size_t half = 8; half > 0; half /= 2)
        for (std::size_t k = 0; k < half; ++k) all[k] += all[k + half];
    return all[0];
}

}  // namespace

double square_sum(const float* x, std::int64_t n) {
    const auto piece = FOVEA_DISPATCH(square_sum_piece);
    std::vector<double> sums(static_cast<std::size_t>(ceil_div(n, chunk)));
    parallel_for(ceil_div(n, chunk), 1, [&](std::int64_t c, std::int64_t) {
        sums[static_cast<std::size_t>(c)] = piece(x + c * chunk, std::min(chunk, n - c * chunk));
    });
    double total = 0;
    for (const double s : sums) total += s;
    return total;
}

// Zeros change no sum, so only chunks and lanes must be those of the whole table: a chunk is a
// multiple of 16, and element i of the table is in lane i mod 16.
double square_sum_of_rows(ConstView values, std::span<const std::int32_t> rows) {
    double total = 0;
    double lanes[16] = {};
    std::int64_t current = 0;
    const auto add_row = [&](const float* x, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            if (i / chunk != current) {
                total += sum_of_lanes(lanes);
                std::fill_n(lanes, 16, 0.0);
                current = i / chunk;
            }
            const auto v = static_cast<double>(x[i - first]);
            lanes[i % 16] += v * v;
        }
    };
    // One piece: for the way denormals are treated.
    parallel_for(1, 1, [&](std::int64_t, std::int64_t) {
        for (std::size_t r = 0; r < rows.size(); ++r)
            add_row(values.row(static_cast<std::int64_t>(r)), rows[r] * values.cols,
                    (rows[r] + std::int64_t{1}) * values.cols);
    });
    return total + sum_of_lanes(lanes);
}

}  // namespace fovea::kernels
#endif
