#include "fovea/kernels/activation.h"

#include <cmath>

#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

constexpr std::int64_t grain = 1 << 14;
constexpr float root_half = 0.70710678f, root_2_over_pi = 0.7978845608f;

float value(Act act, float x) {
    switch (act) {
        case Act::none:
            return x;
        case Act::relu:
            return x > 0 ? x : 0.0f;
        case Act::gelu:
            return 0.5f * x * (1.0f + std::erf(x * root_half));
        case Act::gelu_tanh: {
            const float u = root_2_over_pi * (x + 0.044715f * x * x * x);
            return 0.5f * x * (1.0f + std::tanh(u));
        }
        case Act::tanh:
            return std::tanh(x);
        case Act::swish:
            return x / (1.0f + std::exp(-x));
    }
    return x;
}

float slope(Act act, float s) {
    switch (act) {
        case Act::none:
            return 1;
        case Act::relu:
            return s > 0 ? 1.0f : 0.0f;
        case Act::gelu:
            return 0.5f * (1.0f + std::erf(s * root_half)) +
                   s * 0.3989422804f * std::exp(-0.5f * s * s);
        case Act::gelu_tanh: {
            s = std::fmax(-10.0f, std::fmin(s, 10.0f));  // the slope is 0 or 1 there
            const float t = std::tanh(root_2_over_pi * (s + 0.044715f * s * s * s));
            return 0.5f * (1 + t) +
                   0.5f * s * (1 - t * t) * root_2_over_pi * (1 + 3 * 0.044715f * s * s);
        }
        case Act::tanh:
            return 1 - s * s;
        case Act::swish: {
            const float g = 1.0f / (1.0f + std::exp(-s));
            return g * (1 + s * (1 - g));
        }
    }
    return 1;
}

}  // namespace

void activate(Act act, const float* x, float* y, std::int64_t n) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) y[i] = value(act, x[i]);
    });
}

void activate_backward(Act act, const float* dy, const float* saved, float* dx, std::int64_t n,
                       bool accumulate) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            dx[i] = (accumulate ? dx[i] : 0.0f) + dy[i] * slope(act, saved[i]);
    });
}

void sigmoid(const float* x, float* y, std::int64_t n) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) y[i] = 1.0f / (1.0f + std::exp(-x[i]));
    });
}

void sigmoid_backward(const float* dy, const float* y, float* dx, std::int64_t n, bool accumulate) {
    parallel_for(n, grain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            dx[i] = (accumulate ? dx[i] : 0.0f) + dy[i] * y[i] * (1 - y[i]);
    });
}

}  // namespace fovea::kernels
