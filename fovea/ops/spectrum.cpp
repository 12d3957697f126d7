#include "fovea/ops/spectrum.h"

#include <map>
#include <mutex>

#include "fovea/kernels/log_energy.h"
#include "fovea/kernels/spectrum.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

constexpr std::int64_t longest_frame = 1 << 13;

const kernels::Spectrum& spectrum_of(int n) {
    static std::mutex mutex;
    static std::map<int, kernels::Spectrum> tables;  // references stay
    const std::lock_guard lock(mutex);
    return tables.try_emplace(n, n).first->second;
}

}  // namespace

//   y[r, k] = |Σ_i w_i x[r, i] e^{−2π i k / n}|²      w_i = ½ − ½ cos(2π i / n)
//   x [rows, n]   y [rows, n/2 + 1]
Tensor power_spectrum(const Tensor& frames) {
    expect_f32("power_spectrum", "frames", frames);
    const std::int64_t n = frames.cols();
    expect(n >= 4 && n % 4 == 0 && n <= longest_frame, "power_spectrum: frames are ",
           frames.shape(), " but their length must be a multiple of 4, at most ", longest_frame);
    Tensor y({frames.rows(), n / 2 + 1});
    spectrum_of(static_cast<int>(n))(frames, y.view());
    return y;
}

//   y_i = (max(l_i, max_j l_j − 8) + 4) / 4      l_i = log10 max(x_i, 1e−10)
Tensor log_energy(const Tensor& energies) {
    expect_f32("log_energy", "energies", energies);
    expect(energies.size() > 0, "log_energy: no energies");
    Tensor y(energies.shape());
    kernels::log_energy(energies.data(), y.write(), energies.size());
    return y;
}

}  // namespace fovea
