#include "fovea/ops/loss/copy.h"

#include "fovea/ops/op_check.h"
#include "fovea/ops/softmax.h"

namespace fovea {
namespace {

constexpr std::int64_t vocabulary = 7;
const Segments seen = Segments::of_lengths({4, 1, 3, 5});  // places each row sees
// Words 7 and 8 are the source's own; row 0's label stands at two places, row 3's at none.
const Ids tokens{2, 7, 2, 1, 5, 0, 8, 3, 1, 2, 3, 4, 5}, labels{2, 4, 8, 6};

using In = std::vector<Doubles>;

Doubles naive(const In& v, bool writes, double smoothing) {
    Doubles losses;
    for (std::int64_t i = 0; i < seen.count(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        double sum = 0, copied = 0, normal = 0, written = 0, mean = 0;
        for (std::int64_t j = seen.begin(i); j < seen.end(i); ++j) {
            const double e = std::exp(v[0][static_cast<std::size_t>(j)]);
            sum += e;
            if (tokens[static_cast<std::size_t>(j)] == labels[at]) copied += e;
        }
        copied /= sum;
        double g = 0;
        if (writes) {
            for (std::size_t j = 0; j < vocabulary; ++j)
                normal += std::exp(v[1][at * vocabulary + j]);
            if (labels[at] < vocabulary)
                written =
                    std::exp(v[1][at * vocabulary + static_cast<std::size_t>(labels[at])]) / normal;
            for (std::size_t j = 0; j < vocabulary; ++j)
                mean += (v[1][at * vocabulary + j] - std::log(normal)) / vocabulary;
            g = 1 / (1 + std::exp(-v[2][at]));
        }
        const double p = std::max(g * written + (1 - g) * copied, 1e-30);
        losses.push_back(-(1 - smoothing) * std::log(p) - smoothing * mean);
    }
    return losses;
}

TEST(CopyLoss, ForwardAndGradients) {
    Rng rng(1);
    for (const float smoothing : {0.0f, 0.1f})
        check_op({.inputs = {random_tensor({seen.total()}, rng),
                             random_tensor({seen.count(), vocabulary}, rng),
                             random_tensor({seen.count(), 1}, rng)},
                  .op =
                      [&](const std::vector<Tensor>& x) {
                          return copy_loss({log_softmax(x[1]), x[2], {x[0], seen}, tokens}, labels,
                                           {.smoothing = smoothing, .reduction = Reduction::none});
                      },
                  .reference = [&](const In& v) { return naive(v, true, smoothing); }});
}

// Labels that no row can point at are left to a bound, with no gradient.
TEST(CopyLoss, OnlyPointing) {
    Rng rng(2);
    check_op({.inputs = {random_tensor({seen.total()}, rng)},
              .op =
                  [&](const std::vector<Tensor>& x) {
                      return copy_loss({{}, {}, {x[0], seen}, tokens}, labels,
                                       {.reduction = Reduction::none});
                  },
              .reference = [&](const In& v) { return naive(v, false, 0); },
              .forward_tolerance = 1e-6});
}

TEST(CopyLoss, LogProbabilitiesAreThoseOfTheLossAndSumToOne) {
    Rng rng(3);
    const CopyChoice choice{log_softmax(random_tensor({seen.count(), vocabulary}, rng)),
                            random_tensor({seen.count(), 1}, rng),
                            {random_tensor({seen.total()}, rng), seen},
                            tokens};
    const Tensor all = copy_log_probs(choice, 9),
                 loss = copy_loss(choice, labels, {.reduction = Reduction::none});
    for (std::int64_t i = 0; i < seen.count(); ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < 9; ++j) sum += std::exp(double{all.at(i, j)});
        EXPECT_NEAR(sum, 1, 1e-5) << i;
        EXPECT_NEAR(-all.at(i, labels[static_cast<std::size_t>(i)]), loss.data()[i], 1e-5) << i;
    }
}

}  // namespace
}  // namespace fovea
