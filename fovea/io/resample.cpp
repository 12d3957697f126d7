#include "fovea/io/resample.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// The modified Bessel function I₀, by its series.
double bessel0(double x) {
    double sum = 1, term = 1;
    for (int k = 1; k < 100 && term > sum * 1e-17; ++k) {
        term *= (x / (2 * k)) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

double windowed_sinc(double t, double c) {
    const double r = t * c / Resampler::crossings;
    if (r <= -1 || r >= 1) return 0;
    const double angle = std::numbers::pi * c * t;
    const double sinc = angle == 0 ? 1 : std::sin(angle) / angle;
    return sinc * bessel0(Resampler::beta * std::sqrt(1 - r * r));
}

}  // namespace

Resampler::Resampler(int from, int to) {
    expect(from > 0 && to > 0, "resample: from ", from, " to ", to, " samples a second");
    const int common = std::gcd(from, to);
    up_ = to / common;
    down_ = from / common;
    const double c = band * std::fmin(1.0, static_cast<double>(to) / from);
    reach_ = static_cast<std::int64_t>(std::ceil(crossings / c));
    taps_.resize(static_cast<std::size_t>(up_ * 2 * reach_));
    std::vector<double> h(static_cast<std::size_t>(2 * reach_));
    for (std::int64_t phase = 0; phase < up_; ++phase) {
        const double fraction = static_cast<double>(phase) / static_cast<double>(up_);
        double sum = 0;
        for (std::int64_t k = 0; k < 2 * reach_; ++k) {
            const double value = windowed_sinc(fraction + static_cast<double>(reach_ - 1 - k), c);
            h[static_cast<std::size_t>(k)] = value;
            sum += value;
        }
        for (std::int64_t k = 0; k < 2 * reach_; ++k)
            taps_[static_cast<std::size_t>(phase * 2 * reach_ + k)] =
                static_cast<float>(h[static_cast<std::size_t>(k)] / sum);
    }
}

std::int64_t Resampler::length_of(std::int64_t n) const { return (n * up_ + down_ - 1) / down_; }

std::vector<float> Resampler::operator()(std::span<const float> x) const {
    const auto n = static_cast<std::int64_t>(x.size());
    std::vector<float> y(static_cast<std::size_t>(length_of(n)));
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(y.size()); ++j) {
        const std::int64_t at = j * down_;  // in input samples, times L
        const float* taps = taps_.data() + at % up_ * 2 * reach_;
        const std::int64_t first = at / up_ - reach_ + 1;
        const std::int64_t begin = std::max<std::int64_t>(0, -first);
        const std::int64_t end = std::min(2 * reach_, n - first);
        double sum = 0;
        for (std::int64_t k = begin; k < end; ++k)
            sum += static_cast<double>(taps[k]) *
                   static_cast<double>(x[static_cast<std::size_t>(first + k)]);
        y[static_cast<std::size_t>(j)] = static_cast<float>(sum);
    }
    return y;
}

}  // namespace fovea
