#include "fovea/nn/reinforce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/base/error.h"
#include "fovea/ops/softmax.h"

namespace fovea {
namespace {

// Five places, what each leads to, and so the gradient that is known.
constexpr std::int64_t places = 5;
constexpr double judgement[places] = {3.0, 2.5, 4.0, 3.5, 2.0};

Tensor known_scores() {
    Tensor s({1, places});
    for (std::int64_t j = 0; j < places; ++j)
        s.write()[j] = static_cast<float>(std::sin(1.0 + 2.0 * static_cast<double>(j)));
    return s;
}

std::vector<double> known_gradient() {
    const Tensor p = softmax(known_scores());
    double expected = 0;
    for (std::int64_t j = 0; j < places; ++j) expected += p.at(0, j) * judgement[j];
    std::vector<double> g;
    for (std::int64_t j = 0; j < places; ++j) g.push_back(p.at(0, j) * (judgement[j] - expected));
    return g;
}

struct Estimate {
    std::vector<double> mean = std::vector<double>(places), deviation = mean;
};

// `draws` single draws, one after the other, and how far they scatter.
Estimate estimated(bool with_baseline, int draws) {
    Reinforce reinforce(0.99, with_baseline);
    Estimate e;
    std::vector<double> squares(places);
    for (int i = 0; i < draws; ++i) {
        Tape tape;
        const Tensor s = tape.watch(known_scores());
        const Ids drawn = draw_places(s, static_cast<std::uint64_t>(i) * 977 + 5);
        const double f = judgement[drawn[0]];
        const Gradients g = tape.gradients(reinforce.surrogate(s, drawn, {&f, 1}));
        for (std::size_t j = 0; j < places; ++j) {
            const double x = g[s].data()[j];
            e.mean[j] += x / draws;
            squares[j] += x * x / draws;
        }
    }
    for (std::size_t j = 0; j < places; ++j)
        e.deviation[j] = std::sqrt(squares[j] - e.mean[j] * e.mean[j]);
    return e;
}

TEST(Reinforce, TheMeanOfTheEstimatesIsTheKnownGradient) {
    const std::vector<double> known = known_gradient();
    for (const bool with_baseline : {false, true}) {
        const int draws = 20000;
        const Estimate e = estimated(with_baseline, draws);
        for (std::size_t j = 0; j < places; ++j)
            EXPECT_NEAR(e.mean[j], known[j], 4 * e.deviation[j] / std::sqrt(draws))
                << with_baseline << " " << j;
    }
}

TEST(Reinforce, ABaselineMakesThemScatterLess) {
    double without = 0, with = 0;
    const Estimate plain = estimated(false, 4000), steady = estimated(true, 4000);
    for (std::size_t j = 0; j < places; ++j) {
        without += plain.deviation[j] * plain.deviation[j];
        with += steady.deviation[j] * steady.deviation[j];
    }
    EXPECT_LT(with, 0.25 * without);
}

TEST(Reinforce, DescendingFindsTheBestPlace) {
    Tensor s = Tensor::zeros({8, places});  // eight rows, each a problem of its own
    Reinforce reinforce;
    for (int step = 0; step < 800; ++step) {
        Tape tape;
        const Tensor x = tape.watch(s);
        const Ids drawn = draw_places(x, static_cast<std::uint64_t>(step));
        std::vector<double> judged;
        for (const std::int32_t j : drawn) judged.push_back(judgement[j]);
        const Tensor g = tape.gradients(reinforce.surrogate(x, drawn, judged))[x];
        Tensor next(s.shape());
        for (std::int64_t i = 0; i < s.size(); ++i)
            next.write()[i] = s.data()[i] - 2.0f * g.data()[i];
        s = next;
    }
    const Tensor p = softmax(s);
    double mean = 0;
    for (std::int64_t r = 0; r < 8; ++r) mean += p.at(r, 4) / 8;  // 2.0 is the least
    EXPECT_GT(mean, 0.8);
    EXPECT_NEAR(reinforce.baseline(), 2.0, 0.4);
}

TEST(Reinforce, WrongNumbersAreAnError) {
    Reinforce reinforce;
    const double f = 1;
    EXPECT_THROW(reinforce.surrogate(Tensor::zeros({2, 3}), {0, 1}, {&f, 1}), Error);
    EXPECT_THROW(reinforce.surrogate(Tensor::zeros({0, 3}), {}, {}), Error);
}

}  // namespace
}  // namespace fovea
