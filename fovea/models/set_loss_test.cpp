// The set loss against one that tries all ways to match, in double.
#include "fovea/models/set_loss.h"

#include <algorithm>
#include <numeric>

#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

using Inputs = std::vector<Tensor>;
using In = std::vector<Doubles>;

double area(double w, double h) { return w > 0 && h > 0 ? w * h : 0; }

double giou_of(const double* a, const float* b) {
    const auto low = [](const auto* v, int k) { return double{v[k]} - v[k + 2] / 2.0; };
    const auto high = [](const auto* v, int k) { return double{v[k]} + v[k + 2] / 2.0; };
    double both[2], hull[2];
    for (int k = 0; k < 2; ++k) {
        both[k] = std::min(high(a, k), high(b, k)) - std::max(low(a, k), low(b, k));
        hull[k] = std::max(high(a, k), high(b, k)) - std::min(low(a, k), low(b, k));
    }
    const double common = area(both[0], both[1]), around = area(hull[0], hull[1]);
    const double all = a[2] * a[3] + double{b[2]} * b[3] - common;
    return common / all - (around - all) / around;
}

double focal(double x, bool wanted, const SetLossOptions& o) {
    const double p = 1 / (1 + std::exp(-x)), right = wanted ? p : 1 - p;
    return -(wanted ? o.alpha : 1 - o.alpha) * std::pow(1 - right, o.gamma) * std::log(right);
}

// One picture: `classes` columns of logits, boxes, things.
struct NaiveSet {
    const double *logits, *boxes;
    std::size_t rows, classes;
    const PictureThings& things;
    SetLossOptions o;

    double x(std::size_t row, std::size_t c) const { return logits[row * classes + c]; }
    double log_share(std::size_t row, std::size_t c) const {
        double sum = 0;
        for (std::size_t k = 0; k < classes; ++k) sum += std::exp(x(row, k));
        return x(row, c) - std::log(sum);
    }
    double box_part(std::size_t row, const Thing& t, double l1, double giou) const {
        double sum = 0;
        for (std::size_t k = 0; k < 4; ++k) sum += l1 * std::fabs(boxes[4 * row + k] - t.box[k]);
        return sum - giou * giou_of(boxes + 4 * row, t.box.data());
    }
    double cost(std::size_t row, const Thing& t) const {
        const auto label = static_cast<std::size_t>(t.label);
        const double of_class =
            o.kind == SetClassLoss::softmax
                ? -std::exp(log_share(row, label))
                : focal(x(row, label), true, o) - focal(x(row, label), false, o);
        return o.class_cost * of_class + box_part(row, t, o.box_cost, o.giou_cost);
    }
    // The thing of each row by the cheapest of all orders of rows, −1 for none.
    std::vector<std::int64_t> match() const {
        std::vector<std::size_t> order(rows);
        std::iota(order.begin(), order.end(), 0u);
        std::vector<std::int64_t> best;
        double least = 1e300;
        do {
            double sum = 0;
            for (std::size_t j = 0; j < things.size(); ++j) sum += cost(order[j], things[j]);
            if (sum >= least) continue;
            least = sum;
            best.assign(rows, -1);
            for (std::size_t j = 0; j < things.size(); ++j)
                best[order[j]] = static_cast<std::int64_t>(j);
        } while (std::next_permutation(order.begin(), order.end()));
        return best;
    }
};

struct Sums {
    double classes = 0, weight = 0, boxes = 0;
};

void add(Sums& s, const NaiveSet& set) {
    const std::vector<std::int64_t> matched = set.match();
    for (std::size_t row = 0; row < set.rows; ++row) {
        const Thing* thing =
            matched[row] < 0 ? nullptr : &set.things[static_cast<std::size_t>(matched[row])];
        if (thing) s.boxes += set.o.giou + set.box_part(row, *thing, set.o.box, set.o.giou);
        if (set.o.kind == SetClassLoss::softmax) {
            const double w = thing ? 1.0 : double{set.o.nothing};
            const std::size_t label =
                thing ? static_cast<std::size_t>(thing->label) : set.classes - 1;
            s.classes -= w * set.log_share(row, label);
            s.weight += w;
        } else {
            for (std::size_t c = 0; c < set.classes; ++c)
                s.classes += focal(set.x(row, c),
                                   thing && static_cast<std::size_t>(thing->label) == c, set.o);
        }
    }
}

Tensor boxes_within(std::int64_t n, Rng& rng) {
    Tensor t({n, 4});
    for (std::int64_t i = 0; i < n; ++i)
        for (int k = 0; k < 4; ++k)
            t.write()[4 * i + k] =
                static_cast<float>(k < 2 ? rng.uniform(0.2, 0.8) : rng.uniform(0.05, 0.6));
    return t;
}

PictureThings random_things(int n, int classes, Rng& rng) {
    const Tensor boxes = boxes_within(n, rng);
    PictureThings things(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < things.size(); ++i) {
        std::copy_n(boxes.data() + 4 * i, 4, things[i].box.begin());
        things[i].label = static_cast<int>(rng.below(static_cast<std::uint64_t>(classes)));
    }
    return things;
}

void check_set_loss(const SetLossOptions& o, const std::vector<int>& counts, Rng& rng) {
    constexpr std::int64_t rows = 5, classes = 3;
    const std::int64_t columns = classes + (o.kind == SetClassLoss::softmax ? 1 : 0);
    std::vector<PictureThings> things;
    double count = 0;
    for (const int n : counts) {
        things.push_back(random_things(n, classes, rng));
        count += n;
    }
    const auto pictures = static_cast<std::int64_t>(counts.size());
    const Segments segments = Segments::uniform(pictures, rows);
    check_op({.inputs = {random_tensor({pictures * rows, columns}, rng),
                         boxes_within(pictures * rows, rng)},
              .op =
                  [&](const Inputs& x) {
                      return set_loss(SetPredictions{x[0], x[1]}, segments, things, o);
                  },
              .reference = [&](const In& v) -> Doubles {
                  Sums s;
                  for (std::size_t i = 0; i < things.size(); ++i)
                      add(s, {v[0].data() + i * rows * static_cast<std::size_t>(columns),
                              v[1].data() + i * rows * 4, rows, static_cast<std::size_t>(columns),
                              things[i], o});
                  const double n = std::max(count, 1.0);
                  return {o.class_weight * s.classes / (s.weight > 0 ? s.weight : n) + s.boxes / n};
              },
              .max_checked = 20});
}

TEST(SetLoss, EqualsTheCheapestOfAllMatchings) {
    Rng rng(4);
    const SetLossOptions odd{.class_cost = 2,
                             .box_cost = 1,
                             .giou_cost = 0.5f,
                             .class_weight = 3,
                             .box = 2,
                             .giou = 1,
                             .nothing = 0.4f};
    SetLossOptions focal{.kind = SetClassLoss::focal, .class_cost = 2, .class_weight = 2};
    for (const SetLossOptions& o : {SetLossOptions{}, odd, focal}) {
        check_set_loss(o, {1}, rng);
        check_set_loss(o, {3, 0, 2}, rng);
        check_set_loss(o, {5, 4}, rng);
    }
}

TEST(SetLoss, WithoutThingsEverythingLearnsNothing) {
    Rng rng(5);
    check_set_loss({}, {0, 0}, rng);
    check_set_loss({.kind = SetClassLoss::focal}, {0}, rng);
}

TEST(SetLoss, PerfectPredictionsCostNothing) {
    const PictureThings things{{{0.3f, 0.4f, 0.2f, 0.1f}, 1}, {{0.7f, 0.6f, 0.3f, 0.2f}, 0}};
    const Tensor boxes = Tensor::of(
        {3, 4}, {0.7f, 0.6f, 0.3f, 0.2f, 0.1f, 0.1f, 0.1f, 0.1f, 0.3f, 0.4f, 0.2f, 0.1f});
    const Tensor logits = Tensor::of({3, 3}, {40, 0, 0, 0, 0, 40, 0, 40, 0});
    const SetPredictions p{logits, boxes};
    const std::vector<PictureThings> list{things};
    EXPECT_EQ(matched_things(p, Segments::uniform(1, 3), list),
              (std::vector<std::int64_t>{1, -1, 0}));
    EXPECT_NEAR(set_loss(p, Segments::uniform(1, 3), list).item(), 0, 1e-5);
    const std::vector<SetPredictions> layers{p, {Tensor::zeros({3, 3}), boxes}};
    EXPECT_NEAR(set_loss(layers, Segments::uniform(1, 3), list).item(), std::log(3.0), 1e-5);
}

TEST(SetLoss, MoreThingsThanRowsLeaveTheDearestWithout) {
    const std::vector<PictureThings> list{
        {{{0.9f, 0.9f, 0.1f, 0.1f}, 0}, {{0.3f, 0.3f, 0.2f, 0.2f}, 0}}};
    const SetPredictions p{Tensor::zeros({1, 2}), Tensor::of({1, 4}, {0.3f, 0.3f, 0.2f, 0.2f})};
    EXPECT_EQ(matched_things(p, Segments::uniform(1, 1), list), (std::vector<std::int64_t>{1}));
}

TEST(SetLoss, PredictionsThatAreNoNumbersAreMatchedLast) {
    const std::vector<PictureThings> list{{{{0.3f, 0.3f, 0.2f, 0.2f}, 0}}};
    const Tensor boxes = Tensor::of({2, 4}, {std::nanf(""), 0, 1, 1, 0.9f, 0.9f, 0.1f, 0.1f});
    EXPECT_EQ(matched_things({Tensor::zeros({2, 2}), boxes}, Segments::uniform(1, 2), list),
              (std::vector<std::int64_t>{-1, 0}));
}

TEST(SetLoss, RefusesWhatDoesNotFit) {
    const Segments one = Segments::uniform(1, 2);
    const SetPredictions p{Tensor::zeros({2, 3}), Tensor::full({2, 4}, 0.5f)};
    const std::vector<PictureThings> none(1), bad_label{{{{0.5f, 0.5f, 0.1f, 0.1f}, 2}}}, two(2);
    EXPECT_NO_THROW(set_loss(p, one, none));
    EXPECT_THROW(set_loss(p, one, two), Error);
    EXPECT_THROW(set_loss(p, one, bad_label), Error);  // 2 is "nothing"
    EXPECT_THROW(set_loss({p.logits, Tensor::zeros({1, 4})}, one, none), Error);
    EXPECT_THROW(set_loss({p.logits, p.boxes}, Segments::uniform(1, 3), none), Error);
    EXPECT_THROW(set_loss(std::vector<SetPredictions>{}, one, none), Error);
}

}  // namespace
}  // namespace fovea
