#pragma once
// Sound at another rate: a windowed sinc (Smith, "Digital Audio Resampling", ccrma.stanford.edu/
// ~jos/resample), exact for every pair of rates: output j is
//     y[j] = Σ_k x[k] h(j · from / to − k)
//     h(t) = c sinc(c t) · kaiser(t / reach)       reach = crossings / c
//     c    = 0.945 · min(1, to / from)             the band that is kept, of the input's
// With from / to = M / L in lowest terms there are L different sets of h (phases), computed once in
// double and scaled to sum to 1, so that a constant stays what it is. Outside of x is silence.
// Kaiser's β = 14.77 keeps what folds back below −120 dB or so.
// Thread-safety: const calls from several threads are safe.
#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

class Resampler {
public:
    Resampler(int from, int to);  // rates, or any two numbers of their ratio

    std::vector<float> operator()(std::span<const float> x) const;
    std::int64_t length_of(std::int64_t n) const;  // ⌈n · to / from⌉

    static constexpr int crossings = 32;  // zero crossings of the sinc, on each side
    static constexpr double band = 0.945, beta = 14.769656459379492;

private:
    std::int64_t up_, down_;   // L, M
    std::int64_t reach_;       // input samples on each side
    std::vector<float> taps_;  // [up, 2 · reach]: of inputs ⌊t⌋ − reach + 1 …
};

}  // namespace fovea
