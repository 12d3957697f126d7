#include "fovea/ops/loss/linear_cross_entropy.h"

#include "fovea/ops/arithmetic.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

Doubles naive(const In& v, std::size_t d, const Ids& labels, double smoothing, double dy) {
    const std::size_t classes = v[2].size();
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] < 0) continue;
        Doubles x(classes);
        double total = 0, mean = 0;
        for (std::size_t c = 0; c < classes; ++c) {
            x[c] = v[2][c];
            for (std::size_t k = 0; k < d; ++k) x[c] += v[0][i * d + k] * v[1][c * d + k];
            total += std::exp(x[c]);
            mean += x[c] / static_cast<double>(classes);
        }
        sum += std::log(total) - (1 - smoothing) * x[static_cast<std::size_t>(labels[i])] -
               smoothing * mean;
        ++count;
    }
    return {dy * sum / count};
}

TEST(LinearCrossEntropy, ForwardAndGradients) {
    Rng rng(1);
    for (const std::int64_t d : {1, 3, 17}) {
        const Ids labels{2, -100, 0, 32, 5};
        check_op({.inputs = {random_tensor({5, d}, rng), random_tensor({33, d}, rng),
                             random_tensor({33}, rng)},
                  .op =
                      [&](const Inputs& x) {  // also with a gradient that is not 1
                          return 3.0f * linear_cross_entropy(x[0], x[1], x[2], labels,
                                                             {.smoothing = 0.1f});
                      },
                  .reference =
                      [&](const In& v) {
                          return naive(v, static_cast<std::size_t>(d), labels, 0.1, 3);
                      }});
    }
}

// 40000 classes make chunks of 192 rows: three of them.
TEST(LinearCrossEntropy, ChunksHaveTheBitsOfTheWhole) {
    Rng rng(2);
    const std::int64_t n = 450, d = 5, classes = 40000;
    Tensor h = random_tensor({n, d}, rng), w = random_tensor({classes, d}, rng);
    Ids labels;
    for (std::int64_t i = 0; i < n; ++i)
        labels.push_back(i % 7 == 0 ? -100 : static_cast<std::int32_t>(i * 80));
    const auto run = [&](bool fused) {
        Tape tape;
        const Tensor wh = tape.watch(h), ww = tape.watch(w);
        const CrossEntropyOptions o{.smoothing = 0.1f, .reduction = Reduction::sum};
        const Tensor y = fused ? linear_cross_entropy(wh, ww, {}, labels, o)
                               : cross_entropy(linear(wh, ww), labels, o);
        const Gradients g = tape.gradients(y);
        return detail::Run{y, {g[h], g[w]}};
    };
    const detail::Run one = run(true), two = run(false);
    EXPECT_TRUE(same_bits(one.y, two.y));
    EXPECT_TRUE(same_bits(one.gradients[0], two.gradients[0]));
    EXPECT_TRUE(same_bits(one.gradients[1], two.gradients[1]));
    // Without a tape: the loss alone.
    EXPECT_TRUE(same_bits(
        one.y,
        linear_cross_entropy(h, w, {}, labels, {.smoothing = 0.1f, .reduction = Reduction::sum})));
}

TEST(LinearCrossEntropy, TiedWeightsAddUpAndStoredWeightsServeInference) {
    Rng rng(3);
    const Tensor w = random_tensor({7, 4}, rng), h = random_tensor({3, 4}, rng);
    const Ids labels{1, 2, 3};
    Tape tape;
    const Tensor ww = tape.watch(w);
    const Tensor y =
        linear_cross_entropy(h, ww, {}, labels) + linear_cross_entropy(h, ww, {}, labels);
    const Tensor both = tape.gradients(y)[w];
    Tape again;
    const Tensor one = again.gradients(linear_cross_entropy(h, again.watch(w), {}, labels))[w];
    for (std::int64_t i = 0; i < w.size(); ++i) EXPECT_FLOAT_EQ(both.data()[i], 2 * one.data()[i]);
    const Suspend off;
    EXPECT_NEAR(linear_cross_entropy(h, w.to(Format::bf16), {}, labels).item(),
                linear_cross_entropy(h, w, {}, labels).item(), 0.02);
}

}  // namespace
}  // namespace fovea
