#include "fovea/io/resample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"

namespace fovea {
namespace {

double i0(double x) {      // by the integral (1/π) ∫ e^{x cos θ} dθ
    constexpr int n = 64;  // exact: the integrand is periodic
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::exp(x * std::cos(std::numbers::pi * (i + 0.5) / n));
    return sum / n;
}

// The formula of the header, output by output, in double.
std::vector<double> reference(const std::vector<float>& x, int from, int to) {
    const double c = Resampler::band * std::min(1.0, static_cast<double>(to) / from);
    const double reach = Resampler::crossings / c;
    const auto n = static_cast<std::int64_t>(x.size());
    std::vector<double> y(static_cast<std::size_t>((n * to + from - 1) / from));
    for (std::size_t j = 0; j < y.size(); ++j) {
        const double at = static_cast<double>(j) * from / to;
        double sum = 0, all = 0;
        for (auto k = static_cast<std::int64_t>(std::ceil(at - reach)); k <= at + reach; ++k) {
            const double t = at - static_cast<double>(k), r = t / reach;
            if (std::abs(r) >= 1) continue;
            const double a = std::numbers::pi * c * t;
            const double h =
                (a == 0 ? 1 : std::sin(a) / a) * i0(Resampler::beta * std::sqrt(1 - r * r));
            all += h;
            if (k >= 0 && k < n) sum += h * static_cast<double>(x[static_cast<std::size_t>(k)]);
        }
        y[j] = sum / all;
    }
    return y;
}

TEST(Resample, IsTheFormulaInDouble) {
    Rng rng(3);
    std::vector<float> x(150);
    for (float& v : x) v = static_cast<float>(rng.uniform(-1, 1));
    const std::pair<int, int> rates[] = {{8000, 16000},  {16000, 8000}, {44100, 16000},
                                         {22050, 16000}, {9, 10},       {11, 10}};
    for (const auto& [from, to] : rates) {
        SCOPED_TRACE(text_of(from, " to ", to));
        const auto y = Resampler(from, to)(x);
        const auto wanted = reference(x, from, to);
        ASSERT_EQ(y.size(), wanted.size());
        for (std::size_t j = 0; j < y.size(); ++j) ASSERT_NEAR(y[j], wanted[j], 1e-6);
    }
}

TEST(Resample, TonesKeepTheirPitchAndHighOnesVanish) {
    const auto tone = [](int rate, double hertz, int n) {
        std::vector<float> x(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i)
            x[static_cast<std::size_t>(i)] =
                static_cast<float>(std::sin(2 * std::numbers::pi * hertz * i / rate));
        return x;
    };
    const auto y = Resampler(8000, 16000)(tone(8000, 1000, 2000));
    const auto same = tone(16000, 1000, 4000);
    for (std::size_t j = 100; j + 100 < y.size(); ++j) ASSERT_NEAR(y[j], same[j], 1e-5);
    // 7 kHz does not exist at 8 kHz: nothing folds back.
    const auto z = Resampler(16000, 8000)(tone(16000, 7000, 4000));
    for (std::size_t j = 100; j + 100 < z.size(); ++j) ASSERT_NEAR(z[j], 0, 1e-5);
}

TEST(Resample, KeepsConstantsAndLengths) {
    const std::vector<float> ones(500, 1.0f);
    for (const int to : {7919, 8000, 12000, 48000}) {
        const Resampler r(8000, to);
        const auto y = r(ones);
        EXPECT_EQ(static_cast<std::int64_t>(y.size()), (500LL * to + 7999) / 8000);
        EXPECT_EQ(static_cast<std::int64_t>(y.size()), r.length_of(500));
        EXPECT_NEAR(y[y.size() / 2], 1, 1e-6);
    }
    EXPECT_EQ(Resampler(8000, 8000)(ones).size(), 500u);
    EXPECT_TRUE(Resampler(8000, 16000)({}).empty());
    EXPECT_THROW(Resampler(0, 16000), Error);
}

}  // namespace
}  // namespace fovea
