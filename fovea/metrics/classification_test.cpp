#include "fovea/metrics/classification.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using Labels = std::vector<std::string>;

void expect_shares(const LabelScore& got, const Json& wanted) {
    EXPECT_NEAR(got.precision, wanted[0].get<double>(), 1e-12);
    EXPECT_NEAR(got.recall, wanted[1].get<double>(), 1e-12);
    EXPECT_NEAR(got.f1, wanted[2].get<double>(), 1e-12);
}

TEST(Classification, AgreesWithScikitLearn) {
    const Json g = read_json(FOVEA_SOURCE_DIR "/tests/metrics/classification.json");
    ASSERT_GE(g["cases"].size(), 40u);
    for (const Json& c : g["cases"]) {
        const auto predicted = c["predicted"].get<Labels>(), wanted = c["wanted"].get<Labels>();
        const ClassificationScore s = classification_score(predicted, wanted);
        EXPECT_EQ(s.confusion.labels, c["labels"].get<Labels>());
        EXPECT_NEAR(s.accuracy, c["accuracy"].get<double>(), 1e-12);
        expect_shares(s.micro, c["micro"]);
        expect_shares(s.macro, c["macro"]);
        for (std::size_t k = 0; k < s.labels.size(); ++k) {
            expect_shares(s.labels[k], {c["each"][0][k], c["each"][1][k], c["each"][2][k]});
            for (std::size_t j = 0; j < s.labels.size(); ++j)
                EXPECT_EQ(s.confusion.at(k, j), c["confusion"][k][j].get<std::int64_t>());
        }
    }
}

TEST(Classification, SetsOfLabelsAgreeWithScikitLearn) {
    const Json g = read_json(FOVEA_SOURCE_DIR "/tests/metrics/label_sets.json");
    ASSERT_GE(g["sets"].size(), 20u);
    for (const Json& c : g["sets"]) {
        const auto predicted = c["predicted"].get<std::vector<LabelSet>>();
        const auto wanted = c["wanted"].get<std::vector<LabelSet>>();
        const MultiLabelScore s = multi_label_score(predicted, wanted);
        EXPECT_EQ(s.names, c["labels"].get<Labels>());
        EXPECT_DOUBLE_EQ(s.accuracy, c["accuracy"].get<double>());
        expect_shares(s.micro, c["micro"]);
        expect_shares(s.macro, c["macro"]);
        for (std::size_t k = 0; k < s.labels.size(); ++k)
            expect_shares(s.labels[k], {c["each"][0][k], c["each"][1][k], c["each"][2][k]});
    }
    const std::vector<LabelSet> one{{"a"}}, none;
    EXPECT_THROW(multi_label_score(one, none), Error);
    EXPECT_THROW(multi_label_score(none, none), Error);
}

TEST(Classification, CalibrationErrorAgreesWithScikitLearn) {
    const Json g = read_json(FOVEA_SOURCE_DIR "/tests/metrics/label_sets.json");
    ASSERT_GE(g["calibration"].size(), 15u);
    for (const Json& c : g["calibration"]) {
        std::vector<bool> right;
        for (const Json& r : c["right"]) right.push_back(r.get<int>() == 1);
        EXPECT_DOUBLE_EQ(calibration_error(c["probabilities"].get<std::vector<double>>(), right,
                                           c["bins"].get<int>()),
                         c["error"].get<double>());
    }
}

TEST(Classification, TheBestThresholdIsThatOfTheHighestF1) {
    EXPECT_DOUBLE_EQ(best_threshold(std::vector{0.9, 0.2, 0.4}, {true, false, true}), 0.3);
    EXPECT_DOUBLE_EQ(best_threshold(std::vector{0.9, 0.8}, {false, true}), 0.4);
    EXPECT_DOUBLE_EQ(best_threshold(std::vector{0.9, 0.1}, {false, false}), 0.5);  // says nothing
    // equal probabilities cannot be parted
    EXPECT_DOUBLE_EQ(best_threshold(std::vector{0.6, 0.6, 0.1}, {true, false, false}), 0.35);
}

TEST(Classification, ReportsPercentToTasks) {
    const Labels predicted{"pos", "neg", "neg", "neg"}, wanted{"pos", "neg", "pos", "neg"};
    const MetricScore s = classification_score(predicted, wanted).score();
    EXPECT_EQ(s.name, "accuracy");
    EXPECT_DOUBLE_EQ(s.value, 75);
    EXPECT_TRUE(s.higher_is_better);
    EXPECT_EQ(s.signature, "labels:2|fovea:0.1.0");
    EXPECT_NEAR(s.figures["macro_f1"].get<double>(), 100 * (0.8 + 2.0 / 3) / 2, 1e-9);
    EXPECT_DOUBLE_EQ(s.figures["labels"]["pos"]["recall"].get<double>(), 50);
    EXPECT_EQ(s.figures["labels"]["pos"]["support"], 2);
    EXPECT_EQ(s.figures["confusion"]["labels"], (Labels{"neg", "pos"}));
    EXPECT_EQ(s.figures["confusion"]["counts"], Json::parse("[[2, 0], [1, 1]]"));
}

TEST(Classification, RefusesWhatCannotBeScored) {
    const Labels one{"a"}, none;
    EXPECT_THROW(classification_score(one, none), Error);
    EXPECT_THROW(classification_score(none, none), Error);
    Labels texts;
    for (int i = 0; i < 10001; ++i) texts.push_back(std::to_string(i));
    try {
        confusion_matrix(texts, texts);
        FAIL() << "a column of texts was taken for labels";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        EXPECT_NE(std::string(e.what()).find("10001 different labels"), std::string::npos);
    }
}

}  // namespace
}  // namespace fovea
