#include "fovea/ops/spectrum.h"

#include <complex>
#include <numbers>

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

TEST(PowerSpectrum, IsTheDftInDouble) {
    Rng rng(5);
    for (const int n : {4, 8, 20, 400}) {
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

TEST(PowerSpectrum, RowsAndThreadsChangeNoBit) {
    Rng rng(6);
    const Tensor x = random_tensor({50, 16}, rng);
    const Tensor all = power_spectrum(x);
    for (const int n : {1, 3}) {
        set_thread_count(n);
        const SplitPieces pieces(n);
        EXPECT_TRUE(same_bits(power_spectrum(x), all));
    }
    set_thread_count(0);
    const Tensor row = power_spectrum(Tensor::of({1, 16}, x.span().subspan(32 * 16, 16)));
    EXPECT_EQ(std::memcmp(row.data(), all.data() + 32 * 9, 9 * sizeof(float)), 0);
}

}  // namespace
}  // namespace fovea
