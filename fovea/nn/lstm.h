#pragma once
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include "fovea/nn/recurrent.h"

namespace fovea {

inline constexpr RecurrentCell lstm_cell{"lstm", 4, 2, lstm};

// Hochreiter & Schmidhuber 1997, with forget gates (PyTorch's nn.LSTM). A state is h | c.
struct Lstm : Recurrent {
    Lstm(int in, int width, const Params& p, const RecurrentShape& shape = {})
        : Recurrent(lstm_cell, in, width, p, shape) {}
};

}  // namespace fovea
