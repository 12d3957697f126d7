#include "fovea/kernels/gemm.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "fovea/base/checked.h"
#include "fovea/base/threads.h"

namespace fovea::kernels {
namespace {

float activate(float x, Act act) {
    switch (act) {
        case Act::none:
            return x;
        case Act::relu:
            return x > 0 ? x : (x == x ? 0.0f : x);
        case Act::gelu:
            return 0.5f * x * (1.0f + std::erf(x * 0.70710678f));
        case Act::gelu_tanh: {
            const float u = 0.7978845608f * (x + 0.044715f * x * x * x);
            return x / (1.0f + std::exp(-2.0f * u));
        }
        case Act::tanh:
            return std::tanh(x);
        case Act::swish:
            return x / (1.0f + std::exp(-x));
    }
    return x;
}

void finish(float sum, std::int64_t i, std::int64_t j, View c, const GemmOptions& o) {
    if (o.bias.data) sum += o.bias.data[j];
    if (o.pre.data) o.pre.row(i)[j] = sum;
    c.row(i)[j] = activate(sum, o.act);
}

float chain_f32(float c, const float* a, std::int64_t k, const float* b) {
    for (std::int64_t i = 0; i < k; ++i) c = std::fma(a[i], b[i * 16], c);
    return c;
}

float chain_bf16(float c, const float* a, std::int64_t k, const Bf16* b) {
    for (std::int64_t begin = 0; begin < k; begin += 32) {
        float even = 0, odd = 0;
        for (std::int64_t i = begin; i < begin + 32; i += 2) {
            const float a0 = i < k ? round_to_bf16(a[i]) : 0,
                        a1 = i + 1 < k ? round_to_bf16(a[i + 1]) : 0;
            even = std::fma(a0, from_bf16(b[i * 16]), even);
            odd = std::fma(a1, from_bf16(b[i * 16 + 1]), odd);
        }
        c += even + odd;
    }
    return c;
}

}  // namespace

void gemm(Trans ta, Trans tb, ConstView a, ConstView b, View c, const GemmOptions& options) {
    const PackedMatrix w =
        pack(b, tb, options.precision == Precision::f32 ? Format::f32 : Format::bf16);
    if (ta == Trans::no) return gemm_packed(a, w, c, options);
    std::vector<float> at(static_cast<std::size_t>(a.rows * a.cols));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < a.cols; ++j)
            at[static_cast<std::size_t>(j * a.rows + i)] = a.row(i)[j];
    gemm_packed({at.data(), a.cols, a.rows}, w, c, options);
}

void gemm_packed(ConstView x, const PackedMatrix& w, View y, const GemmOptions& options) {
    assert(x.cols == w.k() && y.rows == x.rows && y.cols == w.n());
    assert(!options.bias.data || options.bias.size() == w.n());
    parallel_for(x.rows, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const float* a = x.row(i);
            std::vector<std::int8_t> q(static_cast<std::size_t>(w.padded_k()));
            float scale = 0;
            if (w.format() == Format::int8) {
                float largest = 0;
                for (std::int64_t k = 0; k < w.k(); ++k)
                    largest = std::max(largest, std::fabs(a[k]));
                const float inverse = largest > 0 ? 127.0f / largest : 0.0f;
                scale = largest / 127.0f;
                for (std::int64_t k = 0; k < w.k(); ++k)
                    q[static_cast<std::size_t>(k)] =
                        static_cast<std::int8_t>(std::nearbyint(a[k] * inverse));
            }
            for (std::int64_t j = 0; j < w.n(); ++j) {
                float c = options.accumulate ? y.row(i)[j] : 0.0f;
                if (w.format() == Format::f32) {
                    c = chain_f32(c, a, w.k(), w.f32_panel(j / 16) + j % 16);
                } else if (w.format() == Format::bf16) {
                    c = chain_bf16(c, a, w.k(), w.bf16_panel(j / 16) + j % 16 * 2);
                } else {
                    std::int32_t sum = 0;
                    for (std::int64_t k = 0; k < w.k(); ++k)
                        sum += q[static_cast<std::size_t>(k)] *
                               w.int8_panel(j / 16)[k / 4 * 64 + j % 16 * 4 + k % 4];
                    c = static_cast<float>(sum) * (scale * w.scales()[j]);
                }
                finish(c, i, j, y, options);
            }
        }
    });
}

}  // namespace fovea::kernels
