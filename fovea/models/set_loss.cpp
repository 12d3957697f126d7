#include "fovea/models/set_loss.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/assignment.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/loss/picture_loss.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

// More than any finite cost here: a prediction that is no number is matched last.
constexpr double unusable = 1e9;

void expect_predictions(const SetPredictions& p, const Segments& pictures,
                        std::span<const PictureThings> things, const SetLossOptions& o) {
    expect(!p.logits.empty() && !p.boxes.empty() && p.boxes.cols() == 4 &&
               p.logits.rows() == p.boxes.rows() && p.logits.rows() == pictures.total(),
           "set_loss: logits are ", p.logits.shape(), " and boxes ", p.boxes.shape(), " for ",
           pictures.total(), " rows");
    expect(static_cast<std::int64_t>(things.size()) == pictures.count(), "set_loss: things of ",
           things.size(), " pictures but there are ", pictures.count());
    const std::int64_t classes = p.logits.cols() - (o.kind == SetClassLoss::softmax ? 1 : 0);
    for (const PictureThings& list : things)
        for (const Thing& thing : list)
            expect(thing.label >= 0 && thing.label < classes, "set_loss: label ", thing.label,
                   " is outside of the ", classes, " classes");
}

// softmax(x)[c], for each c.
std::vector<double> shares(const float* x, std::int64_t n) {
    const double top = *std::max_element(x, x + n);
    std::vector<double> p(static_cast<std::size_t>(n));
    double sum = 0;
    for (std::size_t c = 0; c < p.size(); ++c) sum += p[c] = std::exp(x[c] - top);
    for (double& v : p) v /= sum;
    return p;
}

// log(1 + exp(x)), finite for every finite x: −log σ(−x).
double log_one_plus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

// −α (1 − p)^γ log p + (1 − α) p^γ log(1 − p),  p = σ(x)
double focal_gain(double x, const SetLossOptions& o) {
    const double p = 1 / (1 + std::exp(-x));
    return o.alpha * std::pow(1 - p, o.gamma) * log_one_plus(-x) -
           (1 - o.alpha) * std::pow(p, o.gamma) * log_one_plus(x);
}

// What each class would cost a row of logits.
std::vector<double> class_costs(const float* logits, std::int64_t columns,
                                const SetLossOptions& o) {
    if (o.kind == SetClassLoss::softmax) {
        std::vector<double> costs = shares(logits, columns);
        for (double& c : costs) c = -c;
        return costs;
    }
    std::vector<double> costs(static_cast<std::size_t>(columns));
    for (std::size_t c = 0; c < costs.size(); ++c) costs[c] = focal_gain(logits[c], o);
    return costs;
}

double box_cost(const float* box, const Thing& thing, const SetLossOptions& o) {
    double l1 = 0;
    for (std::size_t k = 0; k < 4; ++k) l1 += std::fabs(double{box[k]} - thing.box[k]);
    return o.box_cost * l1 - o.giou_cost * generalised_iou(box, thing.box.data());
}

Tensor class_loss(const SetPredictions& p, const Ids& labels, float things,
                  const SetLossOptions& o) {
    if (o.kind == SetClassLoss::softmax) {
        const auto nothing = static_cast<std::int32_t>(p.logits.cols() - 1);
        Ids wanted = labels;
        std::vector<float> weights(labels.size(), 1.0f);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (labels[i] >= 0) continue;
            wanted[i] = nothing;
            weights[i] = o.nothing;
        }
        return cross_entropy(p.logits, wanted, {.weights = std::move(weights)});
    }
    Tensor wanted = Tensor::zeros(p.logits.shape());
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] >= 0)
            wanted.write()[static_cast<std::int64_t>(i) * wanted.cols() + labels[i]] = 1.0f;
    return focal_loss(p.logits, wanted, {.alpha = o.alpha, .gamma = o.gamma, .divisor = things});
}

}  // namespace

std::vector<double> match_costs(const SetPredictions& p, std::int64_t first_row,
                                std::int64_t past_row, std::span<const Thing> things,
                                const SetLossOptions& o) {
    std::vector<double> costs;
    costs.reserve(static_cast<std::size_t>(past_row - first_row) * things.size());
    for (std::int64_t row = first_row; row < past_row; ++row) {
        const std::vector<double> by_class =
            class_costs(p.logits.data() + row * p.logits.cols(), p.logits.cols(), o);
        for (const Thing& thing : things) {
            const double cost = o.class_cost * by_class[static_cast<std::size_t>(thing.label)] +
                                box_cost(p.boxes.data() + 4 * row, thing, o);
            costs.push_back(std::isfinite(cost) ? cost : unusable);
        }
    }
    return costs;
}

std::vector<std::int64_t> matched_things(const SetPredictions& p, const Segments& pictures,
                                         std::span<const PictureThings> things,
                                         const SetLossOptions& o) {
    expect_predictions(p, pictures, things, o);
    std::vector<std::int64_t> matched;
    matched.reserve(static_cast<std::size_t>(pictures.total()));
    for (std::int64_t i = 0; i < pictures.count(); ++i) {
        const PictureThings& list = things[static_cast<std::size_t>(i)];
        const std::vector<std::int64_t> own =
            cheapest_assignment(match_costs(p, pictures.begin(i), pictures.end(i), list, o),
                                pictures.length(i), static_cast<std::int64_t>(list.size()));
        matched.insert(matched.end(), own.begin(), own.end());
    }
    return matched;
}

//   L = class_weight · L_class + (box Σ |b − t|₁ + giou Σ (1 − GIoU(b, t))) / things
Tensor set_loss(const SetPredictions& p, const Segments& pictures,
                std::span<const PictureThings> things, const SetLossOptions& o) {
    const std::vector<std::int64_t> matched = matched_things(p, pictures, things, o);
    Ids labels(matched.size(), -1), rows;
    std::vector<float> targets;
    std::size_t count = 0;
    for (std::int64_t i = 0; i < pictures.count(); ++i) {
        const PictureThings& list = things[static_cast<std::size_t>(i)];
        count += list.size();
        for (std::int64_t r = pictures.begin(i); r < pictures.end(i); ++r) {
            const auto row = static_cast<std::size_t>(r);
            if (matched[row] < 0) continue;
            const Thing& thing = list[static_cast<std::size_t>(matched[row])];
            labels[row] = thing.label;
            rows.push_back(static_cast<std::int32_t>(r));
            targets.insert(targets.end(), thing.box.begin(), thing.box.end());
        }
    }
    const float divisor = static_cast<float>(std::max<std::size_t>(count, 1));
    const Tensor loss = o.class_weight * class_loss(p, labels, divisor, o);
    if (rows.empty()) return loss;
    const Tensor wanted = Tensor::of({static_cast<std::int64_t>(rows.size()), 4}, targets);
    return loss + box_loss(gather_rows(p.boxes, rows), wanted,
                           {.l1 = o.box, .giou = o.giou, .divisor = divisor});
}

Tensor set_loss(std::span<const SetPredictions> layers, const Segments& pictures,
                std::span<const PictureThings> things, const SetLossOptions& o) {
    expect(!layers.empty(), "set_loss: there are no predictions");
    Tensor sum = set_loss(layers[0], pictures, things, o);
    for (const SetPredictions& layer : layers.subspan(1))
        sum = sum + set_loss(layer, pictures, things, o);
    return sum;
}

}  // namespace fovea
