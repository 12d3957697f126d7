// Positions of a ViT for pictures of another size.
#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/models/vit.h"

namespace fovea {
namespace {

// Four old places and their weights for each new place of an axis.
struct CubicTap {
    std::array<std::int64_t, 4> at;
    std::array<double, 4> weight;
};

// Keys 1981, eq. 15, with a = -3/4.
double cubic(double x) {
    constexpr double a = -0.75;
    x = std::fabs(x);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

std::vector<CubicTap> cubic_taps(int from, int to) {
    std::vector<CubicTap> taps;
    for (int i = 0; i < to; ++i) {
        const double place = (i + 0.5) * from / to - 0.5, whole = std::floor(place);
        CubicTap tap{};
        for (int k = 0; k < 4; ++k) {
            const double old = whole - 1 + k;
            const auto n = static_cast<std::size_t>(k);
            tap.at[n] = std::clamp<std::int64_t>(static_cast<std::int64_t>(old), 0, from - 1);
            tap.weight[n] = cubic(place - old);
        }
        taps.push_back(tap);
    }
    return taps;
}

}  // namespace

Tensor interpolated_positions(const Tensor& positions, std::pair<int, int> from,
                              std::pair<int, int> to) {
    const std::int64_t d = positions.cols();
    expect(
        positions.rows() == std::int64_t{from.first} * from.second && to.first > 0 && to.second > 0,
        "positions: ", positions.rows(), " rows are no grid of ", from.first, " × ", from.second);
    const std::vector<CubicTap> rows = cubic_taps(from.first, to.first),
                                columns = cubic_taps(from.second, to.second);
    Tensor out({std::int64_t{to.first} * to.second, d});
    float* y = out.write();
    std::vector<double> sum(static_cast<std::size_t>(d));
    for (const CubicTap& row : rows)
        for (const CubicTap& column : columns) {
            std::fill(sum.begin(), sum.end(), 0.0);
            for (std::size_t a = 0; a < 4; ++a)
                for (std::size_t b = 0; b < 4; ++b) {
                    const double w = row.weight[a] * column.weight[b];
                    const float* x =
                        positions.data() + (row.at[a] * from.second + column.at[b]) * d;
                    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += w * x[j];
                }
            for (const double v : sum) *y++ = static_cast<float>(v);
        }
    return out;
}

}  // namespace fovea
