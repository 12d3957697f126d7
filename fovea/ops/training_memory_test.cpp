// A training step after the first asks the system for no memory.
#include <gtest/gtest.h>

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/norm.h"
#include "fovea/ops/op_check.h"
#include "fovea/ops/optimizer.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/positions.h"
#include "fovea/tensor/memory.h"

namespace fovea {
namespace {

constexpr std::int64_t vocabulary = 200, width = 48;

struct Network {
    Tensor embed, w1[2], b1[2], w2[2], gamma[2], beta[2];

    explicit Network(Rng& rng) {
        embed = random_tensor({vocabulary, width}, rng, 0.5);
        for (int i = 0; i < 2; ++i) {
            w1[i] = random_tensor({4 * width, width}, rng, 0.1);
            b1[i] = Tensor::zeros({4 * width});
            w2[i] = random_tensor({width, 4 * width}, rng, 0.1);
            gamma[i] = Tensor::full({width}, 1);
            beta[i] = Tensor::zeros({width});
        }
    }

    std::vector<Tensor> parameters() const {
        std::vector<Tensor> all{embed};
        for (int i = 0; i < 2; ++i)
            for (const Tensor& t : {w1[i], b1[i], w2[i], gamma[i], beta[i]}) all.push_back(t);
        return all;
    }

    Tensor loss(const Ids& tokens, const Segments& segments, const Ids& labels) const {
        Tensor x = dropout(gather_rows(embed, tokens) + sinusoid(segments, width), 0.1f);
        for (int i = 0; i < 2; ++i)
            x = residual_layer_norm(x, linear(linear(x, w1[i], b1[i], Act::gelu), w2[i]), gamma[i],
                                    beta[i], {.dropout = 0.1f});
        return linear_cross_entropy(x, embed, {}, labels, {.smoothing = 0.1f});
    }
};

TEST(TrainingMemory, AStepAfterTheFirstAsksTheSystemForNothingAndLearns) {
    Rng rng(1), drop(2);
    const Network net(rng);
    std::vector<Tensor> parameters = net.parameters(), m, v;
    for (Tensor& p : parameters) {
        p.set_trainable(true);
        m.push_back(Tensor::zeros(p.shape()));
        v.push_back(Tensor::zeros(p.shape()));
    }
    const std::vector<std::int64_t> lengths{40, 0, 25, 35};
    const Segments segments = Segments::of_lengths(lengths);
    Ids tokens, labels;
    for (std::int32_t i = 0; i < 100; ++i) {
        tokens.push_back(i * 7 % 200);
        labels.push_back(i * 7 % 200 / 2);
    }
    std::int64_t after_first = 0, in_use = 0;
    float first = 0, last = 0;
    for (std::int64_t step = 1; step <= 8; ++step) {
        {
            Tape tape(drop);
            const Tensor loss = net.loss(tokens, segments, labels);
            Gradients g = tape.gradients(loss);
            const float scale = clip_scale(global_norm(g, parameters), 1.0);
            for (std::size_t i = 0; i < parameters.size(); ++i)
                adamw_update(parameters[i], g[parameters[i]], m[i], v[i],
                             {.rate = 0.01f, .gradient_scale = scale, .step = step});
            last = loss.item();
        }
        if (step == 1) {
            first = last;
            after_first = memory_stats().system_calls;
            in_use = memory_stats().in_use;
        }
        EXPECT_EQ(memory_stats().system_calls, after_first) << "step " << step;
        EXPECT_EQ(memory_stats().in_use, in_use) << "step " << step;
    }
    EXPECT_LT(last, 0.8f * first);
}

}  // namespace
}  // namespace fovea
