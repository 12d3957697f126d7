#pragma once
#include "fovea/tensor/tensor.h"

namespace fovea {

// |DFT|² of frames of sound [rows, n] under Hann's window, n a multiple of 4: [rows, n/2 + 1].
// Has no gradient: sound is data.
Tensor power_spectrum(const Tensor& frames);

// Energies of any shape on Whisper's scale (Radford et al. 2022, §2.2): log10, at most 8 below the
// largest, (x + 4) / 4. Has no gradient.
Tensor log_energy(const Tensor& energies);

}  // namespace fovea
