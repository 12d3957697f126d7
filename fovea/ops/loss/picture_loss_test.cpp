#include "fovea/ops/loss/picture_loss.h"

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

// Boxes within the unit square, some far from each other, some within each other.
Tensor random_boxes(std::int64_t n, Rng& rng) {
    Tensor t({n, 4});
    for (std::int64_t i = 0; i < n; ++i) {
        float* b = t.write() + 4 * i;
        b[0] = static_cast<float>(rng.uniform(0.2, 0.8));
        b[1] = static_cast<float>(rng.uniform(0.2, 0.8));
        b[2] = static_cast<float>(rng.uniform(0.05, 0.6));
        b[3] = static_cast<float>(rng.uniform(0.05, 0.6));
    }
    return t;
}

double naive_giou(const double* a, const double* b) {
    const double ax0 = a[0] - a[2] / 2, ax1 = a[0] + a[2] / 2, ay0 = a[1] - a[3] / 2,
                 ay1 = a[1] + a[3] / 2;
    const double bx0 = b[0] - b[2] / 2, bx1 = b[0] + b[2] / 2, by0 = b[1] - b[3] / 2,
                 by1 = b[1] + b[3] / 2;
    const double w = std::min(ax1, bx1) - std::max(ax0, bx0),
                 h = std::min(ay1, by1) - std::max(ay0, by0);
    const double both = w > 0 && h > 0 ? w * h : 0;
    const double all = a[2] * a[3] + b[2] * b[3] - both;
    const double hull =
        (std::max(ax1, bx1) - std::min(ax0, bx0)) * (std::max(ay1, by1) - std::min(ay0, by0));
    return both / all - (hull - all) / hull;
}

TEST(BoxLoss, L1AndGiou) {
    Rng rng(1);
    for (const std::int64_t n : {1, 3, 17, 60}) {
        const Tensor target = random_boxes(n, rng);
        const Doubles t = doubles_of(target);
        for (const BoxLossOptions& o : {BoxLossOptions{}, BoxLossOptions{.l1 = 0, .giou = 1},
                                        BoxLossOptions{.l1 = 1, .giou = 0, .divisor = 3}})
            check_op({.inputs = {random_boxes(n, rng)},
                      .op = [&](const Inputs& x) { return box_loss(x[0], target, o); },
                      .reference = [&](const In& v) -> Doubles {
                          double sum = 0;
                          for (std::size_t i = 0; i < t.size(); ++i)
                              sum += o.l1 * std::fabs(v[0][i] - t[i]);
                          for (std::size_t i = 0; i < t.size(); i += 4)
                              sum += o.giou * (1 - naive_giou(&v[0][i], &t[i]));
                          return {sum / o.divisor};
                      }});
    }
}

TEST(BoxLoss, ABoxOnItsTargetCostsNothing) {
    Rng rng(2);
    const Tensor boxes = random_boxes(5, rng);
    EXPECT_NEAR(box_loss(boxes, boxes).item(), 0, 1e-6);
    EXPECT_THROW(box_loss(Tensor::zeros({1, 4}), random_boxes(1, rng)), Error);
}

Tensor random_bits(const Shape& shape, Rng& rng) {
    Tensor t(shape);
    for (std::int64_t i = 0; i < t.size(); ++i) t.write()[i] = rng.below(3) == 0 ? 1.0f : 0.0f;
    return t;
}

TEST(FocalLoss, EqualsTheFormula) {
    Rng rng(3);
    for (const auto& [rows, cols] : {std::pair{1, 1}, std::pair{3, 5}, std::pair{17, 33}}) {
        const Tensor target = random_bits({rows, cols}, rng);
        for (const FocalLossOptions& o :
             {FocalLossOptions{}, FocalLossOptions{.alpha = 0.5f, .gamma = 0, .divisor = 4}})
            check_op({.inputs = {random_tensor({rows, cols}, rng, 2)},
                      .op = [&](const Inputs& x) { return focal_loss(x[0], target, o); },
                      .reference = [&](const In& v) -> Doubles {
                          double sum = 0;
                          for (std::size_t i = 0; i < v[0].size(); ++i) {
                              const double p = 1 / (1 + std::exp(-v[0][i]));
                              const bool on = target.data()[i] > 0.5f;
                              sum -= (on ? o.alpha : 1 - o.alpha) *
                                     std::pow(on ? 1 - p : p, o.gamma) * std::log(on ? p : 1 - p);
                          }
                          return {sum / o.divisor};
                      }});
    }
    const Tensor far = Tensor::of({1, 2}, {1000.0f, -1000.0f});
    EXPECT_TRUE(std::isfinite(focal_loss(far, Tensor::of({1, 2}, {0.0f, 1.0f})).item()));
}

TEST(DiceLoss, EqualsTheFormula) {
    Rng rng(4);
    for (const auto& [rows, cols] : {std::pair{1, 1}, std::pair{3, 5}, std::pair{5, 33}}) {
        const Tensor target = random_bits({rows, cols}, rng);
        check_op({.inputs = {random_tensor({rows, cols}, rng)},
                  .op = [&](const Inputs& x) { return dice_loss(x[0], target, 2); },
                  .reference = [&, rows = rows, cols = cols](const In& v) -> Doubles {
                      double sum = 0;
                      for (int r = 0; r < rows; ++r) {
                          double both = 0, all = 0;
                          for (int c = 0; c < cols; ++c) {
                              const auto i = static_cast<std::size_t>(r * cols + c);
                              const double p = 1 / (1 + std::exp(-v[0][i]));
                              both += p * target.data()[i];
                              all += p + target.data()[i];
                          }
                          sum += 1 - (2 * both + 1) / (all + 1);
                      }
                      return {sum / 2};
                  }});
    }
}

}  // namespace
}  // namespace fovea
