#include "fovea/ops/spectrum.h"

#include <map>
#include <mutex>

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

}  // namespace fovea
