#pragma once
#include "fovea/tensor/tensor.h"

namespace fovea {

// |DFT|² of frames of sound [rows, n] under Hann's window, n a multiple of 4: [rows, n/2 + 1].
// Has no gradient: sound is data.
Tensor power_spectrum(const Tensor& frames);

}  // namespace fovea
