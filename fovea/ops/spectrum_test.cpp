#include "fovea/ops/spectrum.h"

#include <complex>
#include <numbers>

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

TEST(PowerSpectrum, IsTheDftInDouble) {
    Rng rng(5);
    for (const int n : {4, 8, 12, 20, 28, 48, 256, 400}) {
        const Tensor x = random_tensor({33, n}, rng);
        const Tensor y = power_spectrum(x);
        ASSERT_EQ(y.shape(), Shape({33, n / 2 + 1}));
        for (std::int64_t r = 0; r < 33; ++r)
            for (int k = 0; k <= n / 2; ++k) {
                std::complex<double> sum = 0;
                for (int i = 0; i < n; ++i) {
                    const double turn = 2 * std::numbers::pi * i / n;
                    sum += (0.5 - 0.5 * std::cos(turn)) * static_cast<double>(x.at(r, i)) *
                           std::polar(1.0, -turn * k);
                }
                ASSERT_NEAR(y.at(r, k), std::norm(sum), 1e-6 * (1 + std::norm(sum)))
                    << n << " " << k;
            }
    }
}

TEST(PowerSpectrum, RowsThreadsAndLevelsChangeNoBit) {
    Rng rng(6);
    const Tensor x = random_tensor({50, 56}, rng);
    const Tensor all = power_spectrum(x);
    for (const int n : {1, 3}) {
        set_thread_count(n);
        const SplitPieces pieces(n);
        EXPECT_TRUE(same_bits(power_spectrum(x), all));
    }
    set_thread_count(0);
    at_every_level([&] { EXPECT_TRUE(same_bits(power_spectrum(x), all)); });
    const Tensor row = power_spectrum(Tensor::of({1, 56}, x.span().subspan(32 * 56, 56)));
    EXPECT_EQ(std::memcmp(row.data(), all.data() + 32 * 29, 29 * sizeof(float)), 0);
}

TEST(LogEnergy, IsItsFormulaInDouble) {
    Rng rng(7);
    Tensor x({70, 301});
    for (std::int64_t i = 0; i < x.size(); ++i)
        x.write()[i] = i % 11 == 0 ? 0 : std::exp(20.0f * static_cast<float>(rng.uniform()) - 15);
    double top = -10;
    std::vector<double> logs;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        logs.push_back(std::log10(std::max(1e-10, static_cast<double>(x.data()[i]))));
        top = std::max(top, logs.back());
    }
    const Tensor once = log_energy(x);
    at_every_level([&] {
        const Tensor y = log_energy(x);
        EXPECT_TRUE(same_bits(y, once));
        for (std::size_t i = 0; i < logs.size(); ++i)
            ASSERT_NEAR(y.data()[i], (std::max(logs[i], top - 8) + 4) / 4, 1e-6) << i;
    });
}

}  // namespace
}  // namespace fovea
