#pragma once
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/nn/recurrent.h"

namespace fovea {

inline constexpr RecurrentCell gru_cell{"gru", 3, 1, gru};

// Cho et al. 2014 (the reset gate after the product, as in PyTorch's nn.GRU).
struct Gru : Recurrent {
    Gru(int in, int width, const Params& p, const RecurrentShape& shape = {})
        : Recurrent(gru_cell, in, width, p, shape) {}
};

}  // namespace fovea
