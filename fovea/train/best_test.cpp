#include "fovea/train/best.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fovea {
namespace {

// The step of the model that is kept after these evaluations.
std::int64_t kept(const std::vector<Evaluation>& evaluations) {
    TrainState s;
    for (const Evaluation& e : evaluations) {
        ++s.step;
        take_evaluation(e, s);
    }
    return s.best_step;
}

TEST(Best, TheMetricDecides) {
    EXPECT_EQ(kept({{"BLEU", 3, true, 1}, {"BLEU", 5, true, 2}, {"BLEU", 4, true, 0.5}}), 2);
    EXPECT_EQ(kept({{"loss", 3, false, 3}, {"loss", 1, false, 1}, {"loss", 2, false, 2}}), 2);
}

TEST(Best, OfEqualValuesTheLowerLossThenTheLater) {
    EXPECT_EQ(kept({{"BLEU", 0, true, 3}, {"BLEU", 0, true, 2}, {"BLEU", 0, true, 2.5}}), 2);
    EXPECT_EQ(kept({{"BLEU", 7, true, 2}, {"BLEU", 7, true, 2}}), 2);
}

TEST(Best, WhatIsNotFiniteIsNeverKept) {
    EXPECT_EQ(kept({{"BLEU", NAN, true, 1}, {"BLEU", 1, true, INFINITY}}), -1);
    EXPECT_EQ(kept({{"BLEU", 1, true, 1}, {"BLEU", 5, true, NAN}}), 1);
}

TEST(Best, OfRoughFiguresTheLaterIsKept) {
    const auto rough = [](double value) {
        Evaluation e{"accuracy", value, true, 1};
        e.rough = true;
        return e;
    };
    EXPECT_EQ(kept({rough(100), rough(94), rough(96)}), 3);
    EXPECT_EQ(kept({rough(90), rough(NAN)}), 1);
    TrainState s;  // patience counts gains all the same
    for (const double value : {100.0, 94.0, 96.0, 95.0}) take_evaluation(rough(value), s);
    EXPECT_EQ(s.evaluations_without_gain, 1);
    EXPECT_EQ(s.best_value, 95.0);
}

TEST(Best, AnotherMetricStartsAnew) {
    EXPECT_EQ(kept({{"BLEU", 30, true, 1}, {"chrF", 20, true, 2}}), 2);
}

TEST(Best, AMetricThatStaysAtZeroIsSeen) {
    TrainState s;
    take_evaluation({"BLEU", 0, true, 1}, s);
    EXPECT_FALSE(metric_stays_at_zero(s));
    take_evaluation({"BLEU", 0, true, 1}, s);
    EXPECT_TRUE(metric_stays_at_zero(s));
    take_evaluation({"BLEU", 0.1, true, 1}, s);
    EXPECT_FALSE(metric_stays_at_zero(s));
    TrainState loss;
    for (int i = 0; i < 3; ++i) take_evaluation({"loss", 0, false, 0}, loss);
    EXPECT_FALSE(metric_stays_at_zero(loss));
}

}  // namespace
}  // namespace fovea
