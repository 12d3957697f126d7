#include "fovea/metrics/answers.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using Texts = std::vector<std::string>;

Json answer_goldens() { return read_json(FOVEA_SOURCE_DIR "/tests/metrics/answers.json"); }

TEST(Answers, AgreeWithTheRulesOfBothScriptsToTheLastDigit) {
    const Json g = answer_goldens();
    ASSERT_GE(g["cases"].size(), 150u);
    Texts said;
    std::vector<WantedAnswers> wanted;
    for (const Json& c : g["cases"]) {
        SCOPED_TRACE(c["said"].dump() + " " + c["golds"].dump());
        said.push_back(c["said"].get<std::string>());
        wanted.push_back(c["golds"].get<Texts>());
        EXPECT_EQ(normalised_answer(said.back()), c["plain"].get<std::string>());
        for (const auto& [name, rules] :
             {std::pair{"one", AnswerRules::squad1}, std::pair{"two", AnswerRules::squad2}}) {
            const AnswerMatch m = answer_match(said.back(), wanted.back(), rules);
            EXPECT_EQ(m.exact, c[name][0].get<double>()) << name;
            EXPECT_EQ(m.f1, c[name][1].get<double>()) << name;
        }
    }
    const AnswerScore one = answer_score(said, wanted, AnswerRules::squad1),
                      two = answer_score(said, wanted, AnswerRules::squad2);
    EXPECT_EQ(one.exact, g["all_one"][0].get<double>());
    EXPECT_EQ(one.f1, g["all_one"][1].get<double>());
    EXPECT_EQ(two.exact, g["all_two"][0].get<double>());
    EXPECT_EQ(two.f1, g["all_two"][1].get<double>());
}

TEST(Answers, TheBestBoundsOfNoAnswerAreThoseOfTheScript) {
    const Json g = answer_goldens();
    ASSERT_GE(g["bounds"].size(), 8u);
    for (const Json& c : g["bounds"]) {
        const auto wanted = c["golds"].get<std::vector<WantedAnswers>>();
        const BestBounds best = best_no_answer_bounds(c["said"].get<Texts>(),
                                                      c["none"].get<std::vector<double>>(), wanted);
        EXPECT_EQ(best.exact.score, c["exact"][0].get<double>());
        EXPECT_EQ(best.exact.bound, c["exact"][1].get<double>());
        EXPECT_EQ(best.f1.score, c["f1"][0].get<double>());
        EXPECT_EQ(best.f1.bound, c["f1"][1].get<double>());
    }
}

TEST(Answers, QuestionsWithoutAnAnswerAreCountedByThemselves) {
    const Texts said{"cat", "", "dog"};
    const std::vector<WantedAnswers> wanted{{"the cat"}, {}, {}};
    const AnswerScore s = answer_score(said, wanted, AnswerRules::squad2);
    EXPECT_EQ(s.answered, 1);
    EXPECT_EQ(s.unanswered, 2);
    EXPECT_EQ(s.answered_f1, 100);
    EXPECT_EQ(s.unanswered_exact, 50);
    const MetricScore m = s.score(AnswerRules::squad2);
    EXPECT_EQ(m.name, "f1");
    EXPECT_EQ(m.signature.rfind("squad:2.0", 0), 0u);
    EXPECT_EQ(m.figures.at("unanswered_exact").get<double>(), 50);
}

TEST(Answers, SidesOfDifferentLengthAreAnError) {
    const Texts said{"a", "b"};
    const std::vector<WantedAnswers> wanted{{"a"}};
    EXPECT_THROW(answer_score(said, wanted, AnswerRules::squad1), Error);
}

}  // namespace
}  // namespace fovea
