#pragma once
// Gated recurrent cells over packed sequences: each is read by itself, step by step, and its rows
// do not depend on its neighbours. What the input says to the gates (x = input W_ihᵀ + b_ih) is one
// product over all rows, made before by `linear`; these ops run the recurrence.
//
// A row of the result is the state after that row: a call that starts from it goes on where the
// first one ended, with the bits of one call over both (a step of decoding is a sequence of one).
#include "fovea/tensor/segments.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

struct RecurrentWeights {
    Tensor weight;  // W_hh [gates·h, h]; may be stored as bf16 or int8 (for inference)
    Tensor bias;    // b_hh [gates·h], or empty
};

struct RecurrentOptions {
    Tensor start{};          // [sequences, state]; empty: zeros
    bool backwards = false;  // each sequence from its last row to its first
};

// Gated recurrent unit. x [rows, 3 h] holds the gates r, z, n (PyTorch's order); the state is h.
Tensor gru(const Tensor& x, const Segments& segments, const RecurrentWeights& w,
           const RecurrentOptions& options = {});

// Long short-term memory. x [rows, 4 h] holds i, f, g, o; the state is h | c: [rows, 2 h].
Tensor lstm(const Tensor& x, const Segments& segments, const RecurrentWeights& w,
            const RecurrentOptions& options = {});

}  // namespace fovea
