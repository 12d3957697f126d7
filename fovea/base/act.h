#pragma once
// Activations that a matrix product can take along on its way out.

namespace fovea {

enum class Act {
    none,
    relu,
    gelu,       // x Φ(x), with erf (Hendrycks & Gimpel 2016)
    gelu_tanh,  // its tanh form: x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))
    tanh,
    swish,  // x σ(x) (Ramachandran et al. 2017); also called SiLU
};

const char* name_of(Act act);

}  // namespace fovea
