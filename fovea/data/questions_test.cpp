#include "fovea/data/questions.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

std::string squad(const std::string& qas, const std::string& context = "Émile 𝔄 lives in Oslo.") {
    return R"({"version": "2.0", "data": [{"title": "t", "paragraphs": [{"context": ")" + context +
           R"(", "qas": [)" + qas + "]}]}]}";
}
std::string asked(const std::string& id, const std::string& answers, const std::string& more = "") {
    return R"({"id": ")" + id + R"(", "question": "Where?", "answers": )" + answers + more + "}";
}

QuestionData read_text(const std::string& text, std::int64_t skip_bad = 0) {
    const TestFolder folder;
    write_file_atomically(folder / "q.json", text);
    return read_questions({.paths = {folder / "q.json"}, .skip_bad = skip_bad});
}

std::string problem_of(const std::string& text) {
    try {
        read_text(text);
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input) << e.what();
        EXPECT_NE(std::string(e.what()).find("q.json"), std::string::npos) << e.what();
        return std::string(e.what()) + " | " + e.hint();
    }
    return "no error";
}

TEST(Questions, SquadWithOffsetsInCharacters) {
    const QuestionData d = read_text(squad(
        asked("a", R"([{"text": "Oslo", "answer_start": 17}, {"text": "𝔄", "answer_start": 6}])") +
        "," + asked("b", "[]", R"(, "is_impossible": true)")));
    ASSERT_EQ(d.questions.size(), 2u);
    EXPECT_EQ(d.questions[0].answers[1].text, "𝔄");
    EXPECT_EQ(d.questions[0].place, "data[0].paragraphs[0].qas[0]");
    EXPECT_EQ(d.questions[0].context, d.questions[1].context);
    EXPECT_TRUE(d.questions[1].answers.empty());
    EXPECT_EQ(d.contexts, 1);
    EXPECT_EQ(d.unanswered, 1);
}

TEST(Questions, JsonLinesInBothForms) {
    const QuestionData d = read_text(
        R"({"question": "Who?", "context": "Anna", "answers": {"text": ["Anna"], "answer_start": [0]}})"
        "\n"
        R"({"question": "Who else?", "context": "Anna", "answers": [{"text": "Anna", "answer_start": 0}]})"
        "\n\n");
    ASSERT_EQ(d.questions.size(), 2u);
    EXPECT_EQ(d.questions[1].place, "line 2");
    EXPECT_EQ(d.contexts, 1);
}

TEST(Questions, WhatIsWrongIsToldWithItsPlace) {
    const std::string right = R"([{"text": "Oslo", "answer_start": 17}])";
    const struct {
        std::string text;
        const char* says;
    } cases[] = {
        {squad(asked("a", R"([{"text": "Bergen", "answer_start": 17}])")),
         "data[0].paragraphs[0].qas[0]: the answer \"Bergen\" is not in its context"},
        {squad(asked("a", R"([{"text": "Oslo", "answer_start": 16}])")),
         "the answer \"Oslo\" does not stand at 16 | it stands at 17"},
        {squad(asked("a", R"([{"text": "Oslo", "answer_start": 22}])")), "it stands at 17"},
        {squad(asked("a", R"([{"text": "Oslo", "answer_start": 99}])")), "beyond the context"},
        {squad(asked("a", R"([{"text": "Oslo", "answer_start": -1}])")), "does not stand at -1"},
        {squad(asked("a", R"([{"text": "Oslo", "answer_start": 18446744073709551615}])")),
         "beyond the context"},
        {squad(asked("a", R"([{"text": "Oslo", "answer_start": 1.5}])")), "no whole number"},
        {squad(asked("a", R"([{"text": "", "answer_start": 1}])")), "an answer is empty"},
        {squad(asked("a", R"([{"answer_start": 1}])")), "no \"text\""},
        {squad(asked("a", R"("Oslo")")), "\"answers\" is no list"},
        {squad(asked("a", "[]")), "there is no answer | a question without an answer says"},
        {squad(asked("a", "[]", R"(, "is_impossible": false)")), "but there is no answer"},
        {squad(asked("a", right, R"(, "is_impossible": true)")), "but there is an answer"},
        {squad(asked("a", right, R"(, "is_impossible": 1)")), "neither true nor false"},
        {squad(asked("a", right) + "," + asked("a", right)), "qas[1]: the id \"a\" stands twice"},
        {squad(R"({"id": "a", "answers": []})"), "has no text \"question\""},
        {squad(R"({"id": "a", "question": " ", "answers": []})"), "the question is empty"},
        {squad(R"({"id": "a", "question": "Who?"})"), "has no \"answers\""},
        {squad(R"({"id": 3, "question": "Who?", "answers": []})"), "\"id\" is no text"},
        {squad("7"), "qas[0]: is no object"},
        {R"({"data": [{"paragraphs": [{"qas": []}]}]})", "paragraphs[0]: has no text \"context\""},
        {R"({"data": [{"paragraphs": [{"context": "x"}]}]})", "has no list \"qas\""},
        {R"({"data": [{"title": "x"}]})", "data[0]: has no list \"paragraphs\""},
        {R"({"data": {}})", "has no list \"data\""},
        {R"({"data": []})", "holds no question"},
        {"[1, 2]", "has no list \"data\""},
        {"", "is empty"},
        {"{\"data\": [", "not valid JSON"},
        {std::string(100, '['), "nested deeper"},
        {squad(asked("a", right), "\xff"), "not valid JSON"},
        {"{\"question\": \"Who?\", \"context\": 3}\n", "line 1: has no text \"context\""},
        {"{\"question\": \"Who?\", \"context\": \"x\"\n", "line 1: not valid JSON"},
    };
    for (const auto& c : cases) {
        const std::string found = problem_of(c.text);
        EXPECT_NE(found.find(c.says), std::string::npos) << c.says << "\n  got: " << found;
    }
}

TEST(Questions, SomeBadOnesMayBePassedOver) {
    const std::string bad = asked("x", R"([{"text": "Bergen", "answer_start": 0}])"),
                      good = asked("a", R"([{"text": "Oslo", "answer_start": 17}])");
    const QuestionData d = read_text(squad(bad + "," + good), 1);
    EXPECT_EQ(d.questions.size(), 1u);
    EXPECT_EQ(d.problems.skipped, 1);
    ASSERT_EQ(d.problems.first.size(), 1u);
    EXPECT_THROW(read_text(squad(bad + "," + bad + "," + good), 1), Error);
}

}  // namespace
}  // namespace fovea
