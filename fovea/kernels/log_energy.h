#pragma once
#include <cstdint>

namespace fovea::kernels {

// y = (max(log10 max(x, 1e−10), top − 8) + 4) / 4, top the largest of these logarithms: Whisper's
// scale of energies. Off by 1e−6 at most.
void log_energy(const float* x, float* y, std::int64_t n);

}  // namespace fovea::kernels
