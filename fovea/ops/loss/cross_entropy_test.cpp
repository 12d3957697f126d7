#include "fovea/ops/loss/cross_entropy.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

Doubles naive(const Doubles& x, const Ids& labels, const CrossEntropyOptions& o) {
    const std::size_t n = labels.size(), c = x.size() / std::max<std::size_t>(1, n);
    Doubles rows(n);
    double total = 0, sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (labels[i] == o.ignore) continue;
        double m = -1e300, s = 0, mean = 0;
        for (std::size_t j = 0; j < c; ++j) m = std::max(m, x[i * c + j]);
        for (std::size_t j = 0; j < c; ++j) s += std::exp(x[i * c + j] - m);
        for (std::size_t j = 0; j < c; ++j) mean += x[i * c + j] / static_cast<double>(c);
        const double lse = m + std::log(s), w = o.weights.empty() ? 1 : o.weights[i];
        rows[i] = w * (lse - (1 - o.smoothing) * x[i * c + static_cast<std::size_t>(labels[i])] -
                       o.smoothing * mean);
        total += w;
        sum += rows[i];
    }
    if (o.reduction == Reduction::none) return rows;
    if (o.reduction == Reduction::sum) return {sum};
    return {total > 0 ? sum / total : 0};
}

TEST(CrossEntropy, OptionsAndOddSizes) {
    Rng rng(1);
    for (const std::int64_t classes : {1, 3, 17, 33, 1000}) {
        const Ids labels{0, static_cast<std::int32_t>(classes - 1), -100, 0};
        for (const CrossEntropyOptions& o :
             {CrossEntropyOptions{}, CrossEntropyOptions{.smoothing = 0.1f},
              CrossEntropyOptions{.weights = {0.5f, 2, 9, 0}},
              CrossEntropyOptions{.smoothing = 0.2f, .reduction = Reduction::sum},
              CrossEntropyOptions{
                  .ignore = 0, .weights = {1, 2, 3, 4}, .reduction = Reduction::none}}) {
            Ids used = labels;
            if (o.ignore == 0) used[2] = 0;
            SCOPED_TRACE(text_of(classes, " classes, smoothing ", o.smoothing));
            check_op({.inputs = {random_tensor({4, classes}, rng, 3)},
                      .op = [&](const Inputs& x) { return cross_entropy(x[0], used, o); },
                      .reference = [&](const In& v) { return naive(v[0], used, o); },
                      .max_checked = 100});
        }
    }
}

TEST(CrossEntropy, ExtremesStayFiniteAndAShiftChangesNothing) {
    Tensor x = Tensor::of({2, 3}, {3e38f, -3e38f, 0, 1, 2, 3});
    Tape tape;
    const Tensor w = tape.watch(x);
    const Tensor y = cross_entropy(w, {0, 2});
    EXPECT_TRUE(std::isfinite(y.item()));
    for (const float g : tape.gradients(y)[x].span()) EXPECT_TRUE(std::isfinite(g));
    const auto loss = [](float shift) {
        return cross_entropy(Tensor::of({1, 3}, {1 + shift, 2 + shift, 3 + shift}), {1},
                             {.smoothing = 0.1f})
            .item();
    };
    EXPECT_EQ(loss(0), loss(1024));
}

TEST(CrossEntropy, NoRowCounts) {
    Rng rng(2);
    const Tensor x = random_tensor({2, 5}, rng);
    Tape tape;
    const Tensor w = tape.watch(x);
    const Tensor y = cross_entropy(w, {-100, -100});
    EXPECT_EQ(y.item(), 0);
    for (const float g : tape.gradients(y)[x].span()) EXPECT_EQ(g, 0);
}

TEST(CrossEntropy, BadCalls) {
    const Tensor x = Tensor::zeros({2, 5});
    EXPECT_THROW(cross_entropy(x, {1}), Error);
    EXPECT_THROW(cross_entropy(x, {1, 5}), Error);
    EXPECT_THROW(cross_entropy(x, {1, -1}), Error);
    EXPECT_THROW(cross_entropy(x, {1, 1}, {.smoothing = 1.0f}), Error);
    EXPECT_THROW(cross_entropy(x, {1, 1}, {.weights = {1}}), Error);
    EXPECT_THROW(cross_entropy({}, {}), Error);
}

}  // namespace
}  // namespace fovea
