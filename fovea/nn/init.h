#pragma once
// How new parameters begin. Not thread-safe together: they draw from the one Rng they are given.
#include <algorithm>
#include <cmath>
#include <functional>

#include "fovea/base/rng.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

using Init = std::function<void(Tensor&, Rng&)>;

inline Init constant(float value) {
    return [value](Tensor& t, Rng&) { std::fill_n(t.write(), t.size(), value); };
}
inline Init zeros() { return constant(0.0f); }
inline Init ones() { return constant(1.0f); }

inline Init normal(float deviation) {
    return [deviation](Tensor& t, Rng& rng) {
        float* p = t.write();
        for (std::int64_t i = 0; i < t.size(); ++i)
            p[i] = deviation * static_cast<float>(rng.normal());
    };
}

inline Init uniform(float bound) {
    return [bound](Tensor& t, Rng& rng) {
        float* p = t.write();
        for (std::int64_t i = 0; i < t.size(); ++i)
            p[i] = static_cast<float>(rng.uniform(-bound, bound));
    };
}

// Glorot & Bengio 2010: uniform in ± gain · √(6 / (in + out)) for a weight [out, in].
inline Init xavier(float gain = 1.0f) {
    return [gain](Tensor& t, Rng& rng) {
        const auto fans = static_cast<float>(t.rows() + t.cols());
        uniform(gain * std::sqrt(6.0f / std::max(fans, 1.0f)))(t, rng);
    };
}

}  // namespace fovea
