#include "fovea/kernels/spectrum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

// [samples, ks]: f(2π i k / n) for the ks first, first + 2, …; i·k is taken modulo n, so that the
// angle is exact.
template <class F>
std::vector<double> spectrum_table(int n, int first, F f) {
    const int samples = n / 4 + 1, ks = n / 4 + 1 - first;
    std::vector<double> table;
    for (int i = 0; i < samples; ++i)
        for (int j = 0; j < ks; ++j) {
            const int turn = i * (2 * j + first) % n;
            table.push_back(f(2 * std::numbers::pi * turn / n));
        }
    return table;
}

// y = x T, one sum after the other over x.
void spectrum_product(const std::vector<double>& x, const std::vector<double>& table,
                      std::vector<double>& y) {
    std::fill(y.begin(), y.end(), 0.0);
    const std::size_t ks = table.size() / x.size();
    const double* t = table.data();
    double* to = y.data();
    for (const double value : x) {
        for (std::size_t k = 0; k < ks; ++k) to[k] += value * t[k];
        t += ks;
    }
}

}  // namespace

Spectrum::Spectrum(int n)
    : n_(n),
      cos_even_(spectrum_table(n, 0, [](double a) { return std::cos(a); })),
      sin_even_(spectrum_table(n, 0, [](double a) { return std::sin(a); })),
      cos_odd_(spectrum_table(n, 1, [](double a) { return std::cos(a); })),
      sin_odd_(spectrum_table(n, 1, [](double a) { return std::sin(a); })) {
    for (int i = 0; i < n; ++i)
        window_.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / n));
}

// cos is even and sin odd around i = n/2, and around n/4 for even and odd k the other way round:
// the frame folded twice leaves a quarter of the products.
void Spectrum::operator()(ConstView frames, View power) const {
    const auto n = static_cast<std::size_t>(n_), half = n / 2, quarter = n / 4;
    parallel_for(frames.rows, 16, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> x(n), even(half + 1), odd(half + 1);
        std::vector<double> ee(quarter + 1), eo(quarter + 1), oe(quarter + 1), oo(quarter + 1);
        std::vector<double> re(quarter + 1), im(quarter + 1);
        for (std::int64_t row = begin; row < end; ++row) {
            const float* in = frames.data + row * n_;
            for (std::size_t i = 0; i < n; ++i) x[i] = window_[i] * static_cast<double>(in[i]);
            even[0] = x[0], even[half] = x[half], odd[0] = odd[half] = 0;
            for (std::size_t i = 1; i < half; ++i)
                even[i] = x[i] + x[n - i], odd[i] = x[i] - x[n - i];
            for (std::size_t i = 0; i < quarter; ++i) {
                ee[i] = even[i] + even[half - i], eo[i] = even[i] - even[half - i];
                oe[i] = odd[i] - odd[half - i], oo[i] = odd[i] + odd[half - i];
            }
            ee[quarter] = even[quarter], oo[quarter] = odd[quarter];
            eo[quarter] = oe[quarter] = 0;
            float* out = power.data + row * power.cols;
            spectrum_product(ee, cos_even_, re);
            spectrum_product(oe, sin_even_, im);
            for (std::size_t j = 0; j <= quarter; ++j)
                out[2 * j] = static_cast<float>(re[j] * re[j] + im[j] * im[j]);
            spectrum_product(eo, cos_odd_, re);
            spectrum_product(oo, sin_odd_, im);
            for (std::size_t j = 0; j < quarter; ++j)
                out[2 * j + 1] = static_cast<float>(re[j] * re[j] + im[j] * im[j]);
        }
    });
}

}  // namespace fovea::kernels
