#include "fovea/ops/loss/picture_loss.h"

#include <algorithm>
#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/ops/arguments.h"

namespace fovea {
namespace {

void expect_targets(const char* op, const Tensor& x, const Tensor& target, float divisor) {
    expect_f32(op, "x", x);
    expect_f32(op, "target", target);
    expect(x.shape() == target.shape(), op, ": x is ", x.shape(), " but target is ",
           target.shape());
    expect(divisor > 0, op, ": the divisor is ", divisor, " but must be positive");
}

// d[x] += dy · slopes, whose length is x's.
Tensor with_slopes(double value, const Tensor& x, Tensor slopes) {
    return record(Tensor::scalar(static_cast<float>(value)), {x},
                  [x = GradTarget(x), slopes](const Tensor& dy, Gradients& d) {
                      if (!d.wants(x)) return;
                      const Into dx = d.into(x);
                      for (std::int64_t i = 0; i < slopes.size(); ++i) {
                          const float g = dy.item() * slopes.data()[i];
                          dx.view.data[i] = dx.add ? dx.view.data[i] + g : g;
                      }
                  });
}

// One side (x or y) of two boxes, and how lengths move with the first one's centre and size.
struct Sides {
    double both, hull;  // lengths of the intersection and of the hull
    double both_centre, both_size, hull_centre, hull_size;  // derivatives

    Sides(double c, double s, double tc, double ts) {
        const double low = c - s / 2, high = c + s / 2, tlow = tc - ts / 2, thigh = tc + ts / 2;
        const bool own_low = low > tlow, own_high = high < thigh;  // bound the intersection
        both = std::min(high, thigh) - std::max(low, tlow);
        both_centre = (own_high ? 1 : 0) - (own_low ? 1 : 0);
        both_size = (own_high ? 0.5 : 0) + (own_low ? 0.5 : 0);
        if (both <= 0) both = both_centre = both_size = 0;
        hull = std::max(high, thigh) - std::min(low, tlow);
        hull_centre = (own_high ? 0 : 1) - (own_low ? 0 : 1);
        hull_size = (own_high ? 0 : 0.5) + (own_low ? 0 : 0.5);
    }
};

// GIoU of the first box with the second; its derivatives by (cx, cy, w, h) to `slopes`.
double giou(const float* x, const float* t, double* slopes) {
    const Sides h(x[0], x[2], t[0], t[2]), v(x[1], x[3], t[1], t[3]);
    const double both = h.both * v.both, hull = h.hull * v.hull;
    const double all = double{x[2]} * x[3] + double{t[2]} * t[3] - both;
    // giou = both / all − 1 + all / hull
    const double d_both = 1 / all, d_all = 1 / hull - both / (all * all),
                 d_hull = -all / (hull * hull);
    const auto slope = [&](double own_both, double own_area, double own_hull) {
        return d_both * own_both + d_all * (own_area - own_both) + d_hull * own_hull;
    };
    slopes[0] = slope(h.both_centre * v.both, 0, h.hull_centre * v.hull);
    slopes[1] = slope(v.both_centre * h.both, 0, v.hull_centre * h.hull);
    slopes[2] = slope(h.both_size * v.both, x[3], h.hull_size * v.hull);
    slopes[3] = slope(v.both_size * h.both, x[2], v.hull_size * h.hull);
    return both / all - 1 + all / hull;
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

// log σ(x), finite for every finite x.
double log_logistic(double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::fabs(x))); }

}  // namespace

double generalised_iou(const float* box, const float* other) {
    double slopes[4];
    return giou(box, other, slopes);
}

Tensor box_loss(const Tensor& x, const Tensor& target, const BoxLossOptions& o) {
    expect_targets("box_loss", x, target, o.divisor);
    expect(x.cols() == 4, "box_loss: x is ", x.shape(), " but boxes are [n, 4]");
    Tensor slopes(x.shape());
    double sum = 0;
    for (std::int64_t i = 0; i < x.rows(); ++i) {
        const float *a = x.data() + 4 * i, *t = target.data() + 4 * i;
        expect(a[2] > 0 && a[3] > 0 && t[2] > 0 && t[3] > 0, "box_loss: box ", i, " has no area");
        double d[4];
        sum += o.giou * (1 - giou(a, t, d));
        for (int k = 0; k < 4; ++k) {
            sum += o.l1 * std::fabs(double{a[k]} - t[k]);
            const double sign = a[k] > t[k] ? 1 : a[k] < t[k] ? -1 : 0;
            slopes.write()[4 * i + k] =
                static_cast<float>((o.l1 * sign - o.giou * d[k]) / o.divisor);
        }
    }
    return with_slopes(sum / o.divisor, x, slopes);
}

//   f = −α (1 − p)^γ log p      df/dx = α (1 − p)^γ (γ p log p − (1 − p)),  x ↦ −x where t = 0
Tensor focal_loss(const Tensor& x, const Tensor& target, const FocalLossOptions& o) {
    expect_targets("focal_loss", x, target, o.divisor);
    expect(o.gamma >= 0 && o.alpha >= 0 && o.alpha <= 1, "focal_loss: alpha ", o.alpha,
           " and gamma ", o.gamma, " are not weights");
    Tensor slopes(x.shape());
    double sum = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const bool wanted = target.data()[i] > 0.5f;
        const double sign = wanted ? 1 : -1, z = sign * x.data()[i];
        const double p = logistic(z), log_p = log_logistic(z);
        const double weight = (wanted ? o.alpha : 1 - o.alpha) * std::pow(1 - p, o.gamma);
        sum -= weight * log_p;
        slopes.write()[i] =
            static_cast<float>(sign * weight * (o.gamma * p * log_p - (1 - p)) / o.divisor);
    }
    return with_slopes(sum / o.divisor, x, slopes);
}

//   q = (2 Σ p t + 1) / (Σ p + Σ t + 1)    d(1 − q)/dx = −(2 t − q) / (Σ p + Σ t + 1) · p (1 − p)
Tensor dice_loss(const Tensor& x, const Tensor& target, float divisor) {
    expect_targets("dice_loss", x, target, divisor);
    Tensor slopes(x.shape());
    double sum = 0;
    for (std::int64_t r = 0; r < x.rows(); ++r) {
        const float *a = x.data() + r * x.cols(), *t = target.data() + r * x.cols();
        double both = 0, all = 0;
        for (std::int64_t i = 0; i < x.cols(); ++i) {
            const double p = logistic(a[i]);
            both += p * t[i];
            all += p + t[i];
        }
        const double share = (2 * both + 1) / (all + 1);
        sum += 1 - share;
        for (std::int64_t i = 0; i < x.cols(); ++i) {
            const double p = logistic(a[i]);
            slopes.write()[r * x.cols() + i] =
                static_cast<float>(-(2 * t[i] - share) / (all + 1) * p * (1 - p) / divisor);
        }
    }
    return with_slopes(sum / divisor, x, slopes);
}

}  // namespace fovea
