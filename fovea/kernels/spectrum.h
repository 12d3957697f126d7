#pragma once
// The power spectrum of short frames by a fast Fourier transform in double: log-mel features look
// 80 dB below the loudest sound, where sums in f32 are off by 3e-5 (measured).
#include <cstdint>
#include <vector>

#include "fovea/base/view.h"

namespace fovea::kernels {

// One pass of Stockham's transform: a DFT of `radix` points over everything, then its twiddles.
struct SpectrumPass {
    std::int64_t radix, groups, stride;
    std::vector<double> cosines, sines;            // of the twiddles [groups, radix]
    std::vector<double> root_cosines, root_sines;  // e^{−2πi r/radix}
};

// Frames of n samples, n a multiple of 4, under Hann's window (the periodic one).
class Spectrum {
public:
    explicit Spectrum(int n);

    // frames [rows, n] -> |Σ_i w_i x_i e^{−2πi k/n}|² for k = 0 … n/2, [rows, n/2 + 1].
    void operator()(ConstView frames, View power) const;

private:
    int n_;
    std::vector<double> window_;
    std::vector<SpectrumPass> passes_;     // of n/2 points
    std::vector<double> cosines_, sines_;  // e^{−2πi k/n}, k = 0 … n/2
};

}  // namespace fovea::kernels
