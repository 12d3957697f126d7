#include "fovea/metrics/entities.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using Sentences = std::vector<TagSequence>;

void expect_equal(const EntityTypeScore& got, const Json& wanted) {
    EXPECT_EQ(got.precision, wanted[0].get<double>());  // to the last digit
    EXPECT_EQ(got.recall, wanted[1].get<double>());
    EXPECT_EQ(got.f1, wanted[2].get<double>());
    EXPECT_EQ(got.wanted, wanted[3].get<std::int64_t>());
}

void expect_scores(const EntityScore& got, const Json& wanted) {
    expect_equal(got.micro, wanted["micro"]);
    expect_equal(got.macro, wanted["macro"]);
    expect_equal(got.weighted, wanted["weighted"]);
    ASSERT_EQ(got.types.size(), wanted["each"][0].size());
    std::size_t k = 0;
    for (const auto& [type, score] : got.types) {
        expect_equal(score, {wanted["each"][0][k], wanted["each"][1][k], wanted["each"][2][k],
                             wanted["each"][3][k]});
        ++k;
    }
}

TEST(Entities, AgreeWithSeqevalToTheLastDigit) {
    const Json g = read_json(FOVEA_SOURCE_DIR "/tests/metrics/entities.json");
    ASSERT_GE(g["cases"].size(), 30u);
    int strict = 0;
    for (const Json& c : g["cases"]) {
        SCOPED_TRACE(c["predicted"].dump().substr(0, 200));
        const auto predicted = c["predicted"].get<Sentences>(),
                   wanted = c["wanted"].get<Sentences>();
        const EntityScore s = entity_score(predicted, wanted);
        EXPECT_EQ(s.accuracy, c["accuracy"].get<double>());
        std::vector<std::string> types;
        for (const auto& [type, score] : s.types) types.push_back(type);
        EXPECT_EQ(types, c["types"].get<std::vector<std::string>>());
        Json entities = Json::array();
        for (const TagEntity& e : entities_of(predicted[0]))
            entities.push_back({e.type, e.first, e.last});
        EXPECT_EQ(entities, c["entities"]);
        if (c.contains("lenient")) expect_scores(s, c["lenient"]);
        if (c.contains("strict")) {
            ++strict;
            expect_scores(entity_score(predicted, wanted, EntityReading::strict), c["strict"]);
        }
    }
    EXPECT_GE(strict, 15);
}

TEST(Entities, StrictAndLenientDiffer) {
    const TagSequence tags = {"I-PER", "O", "B-PER", "I-LOC"};
    EXPECT_EQ(entities_of(tags).size(), 3u);
    const auto strict = entities_of(tags, EntityReading::strict);
    ASSERT_EQ(strict.size(), 1u);
    EXPECT_EQ(strict[0], (TagEntity{"PER", 2, 2}));
}

TEST(Entities, ReportPercentToTasks) {
    const Sentences wanted = {{"B-a", "I-a", "O", "B-b"}}, found = {{"B-a", "I-a", "B-b", "B-b"}};
    const MetricScore s = entity_score(found, wanted).score();
    EXPECT_EQ(s.name, "F1");
    EXPECT_DOUBLE_EQ(s.value, 80);
    EXPECT_EQ(s.signature, "entities:lenient|fovea:0.1.0");
    EXPECT_DOUBLE_EQ(s.figures["precision"].get<double>(), 100.0 * 2 / 3);
    EXPECT_DOUBLE_EQ(s.figures["recall"].get<double>(), 100);
    EXPECT_DOUBLE_EQ(s.figures["accuracy"].get<double>(), 75);
    EXPECT_EQ(s.figures["types"]["b"]["support"], 1);
    EXPECT_EQ(s.figures["types"]["b"]["predicted"], 2);
}

TEST(Entities, NothingToFindIsZero) {
    const Sentences none = {{"O", "O"}};
    const EntityScore s = entity_score(none, none);
    EXPECT_EQ(s.micro.f1, 0);
    EXPECT_EQ(s.macro.f1, 0);
    EXPECT_EQ(s.accuracy, 1);
}

TEST(Entities, RefuseWhatCannotBeScored) {
    const Sentences a = {{"O"}}, b = {{"O", "O"}}, c = {};
    EXPECT_THROW(entity_score(a, b), Error);
    EXPECT_THROW(entity_score(a, c), Error);
    const Sentences words = {{"NOUN"}};
    EXPECT_THROW(entity_score(words, words, EntityReading::strict), Error);
}

}  // namespace
}  // namespace fovea
