#pragma once
// What parity tests do with a golden: compare values, every gradient, and ten steps of AdamW
// (learning rate 1e-3, weight decay 0.01 on matrices, gradients clipped to norm 1).
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fovea/autograd/tape.h"
#include "fovea/io/safetensors.h"
#include "fovea/train/adamw.h"

namespace fovea::test {

inline double relative_error(const Tensor& a, const Tensor& b) {
    double error = 0, norm = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
        error += std::pow(static_cast<double>(a.data()[i]) - b.data()[i], 2);
        norm += std::pow(static_cast<double>(b.data()[i]), 2);
    }
    return std::sqrt(error) / std::max(std::sqrt(norm), 1e-8);
}

inline void expect_same(const Tensor& found, const Tensor& want) {
    ASSERT_EQ(found.shape(), want.shape());
    for (std::int64_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(found.data()[i], want.data()[i], 1e-4) << i;
    EXPECT_LT(relative_error(found, want), 1e-5);
}

// The file's "grad.NAME" against those of the store's parameters; how many there were. A gradient
// whose norm is below `zero` in the golden is none: its values are noise.
inline std::size_t expect_gradients(const TensorFile& file, const ParameterStore& store,
                                    const Gradients& d, double zero = 1e-9) {
    std::size_t compared = 0;
    for (const TensorInfo& info : file.tensors()) {
        if (!info.name.starts_with("grad.")) continue;
        const std::string name = info.name.substr(5);
        const Tensor want = file.read(info), found = d[store.at(name)];
        // A gradient that is zero in exact arithmetic (keys' biases shift all scores of a row
        // alike) is rounding noise on both sides.
        double norm = 0;
        for (const float v : want.span()) norm += static_cast<double>(v) * v;
        if (std::sqrt(norm) < zero) {
            for (const float v : found.span()) EXPECT_LT(std::fabs(v), 1e-6) << name;
        } else {
            EXPECT_LT(relative_error(found, want), 2e-5) << name;
        }
        ++compared;
    }
    return compared;
}

template <class Loss>
void expect_ten_steps(ParameterStore& store, const Tensor& want, const Loss& loss_of) {
    AdamW adam(store, {.weight_decay = 0.01f});
    for (int i = 0; i < 10; ++i) {
        Tape tape;
        const Tensor loss = loss_of();
        EXPECT_NEAR(loss.item(), want.data()[i], 1e-4) << "step " << i;
        const Gradients d = tape.gradients(loss);
        const double norm = adam.gradient_norm(d);
        adam.step(d, 1e-3, static_cast<float>(std::min(1.0, 1.0 / (norm + 1e-6))));
    }
}

}  // namespace fovea::test
