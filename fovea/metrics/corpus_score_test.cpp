#include "fovea/metrics/corpus_score.h"

#include <gtest/gtest.h>

#include "fovea/metrics/counting.h"

namespace fovea {
namespace {

const std::vector<std::string> outputs{"the cat sat on the mat", "a dog", "It is 5 o'clock."};
const std::vector<References> two_references{{"the cat is on the mat", "there is a cat on the mat"},
                                             {"one dog", "a dog"},
                                             {"It is five o'clock.", "It's 5 o'clock."}};

TEST(CorpusScore, IsTheMetricsOwnScore) {
    const BleuOptions char_options{.tokenizer = BleuTokenizer::chars, .lowercase = true};
    for (const BleuOptions& options : {BleuOptions{}, char_options}) {
        const CorpusScore m = measure_bleu(outputs, two_references, options);
        const BleuScore s = corpus_bleu(outputs, two_references, options);
        EXPECT_EQ(m.score.value, s.score);
        EXPECT_EQ(m.score.signature, s.signature);
        EXPECT_EQ(m.score.figures["precisions"].get<std::vector<double>>(), s.precisions);
        EXPECT_EQ(m.sums.score(m.sums.total()), s.score);
    }
    const CorpusScore chrf = measure_chrf(outputs, two_references, {.word_order = 2});
    const ChrfScore c = corpus_chrf(outputs, two_references, {.word_order = 2});
    EXPECT_EQ(chrf.key, "chrf2++");
    EXPECT_EQ(chrf.score.name, c.name);
    EXPECT_EQ(chrf.score.value, c.score);
    EXPECT_EQ(chrf.score.signature, c.signature);
    const auto rouge = measure_rouge(outputs, two_references, {.stemmer = true});
    const CorpusRouge r = corpus_rouge(outputs, two_references, {.stemmer = true});
    ASSERT_EQ(rouge.size(), 4u);
    EXPECT_EQ(rouge[2].key, "rougeL");
    EXPECT_DOUBLE_EQ(rouge[1].score.value, 100 * r.mean.rouge2.f1);
    EXPECT_DOUBLE_EQ(rouge[2].score.value, 100 * r.mean.rougeL.f1);
    EXPECT_DOUBLE_EQ(rouge[2].score.figures["recall"].get<double>(), 100 * r.mean.rougeL.recall);
    EXPECT_EQ(rouge[2].score.signature, r.signature);
    const CorpusScore exact = measure_exact_match(outputs, two_references);
    EXPECT_DOUBLE_EQ(exact.score.value, 100 * exact_match(outputs, two_references));
    EXPECT_EQ(exact.score.figures["matches"], 1);
    EXPECT_EQ(exact.score.signature, "nrefs:2|fovea:0.1.0");
}

// A second reference counts for every metric.
TEST(CorpusScore, FurtherReferencesAreUsed) {
    std::vector<References> first;
    for (const References& r : two_references) first.push_back({r[0]});
    const auto all = [](const std::vector<References>& references) {
        std::vector<CorpusScore> scores = measure_rouge(outputs, references);
        scores.push_back(measure_bleu(outputs, references));
        scores.push_back(measure_chrf(outputs, references));
        scores.push_back(measure_exact_match(outputs, references));
        return scores;
    };
    const auto with_one = all(first), with_two = all(two_references);
    for (std::size_t m = 0; m < with_one.size(); ++m)
        EXPECT_GT(with_two[m].score.value, with_one[m].score.value) << with_one[m].key;
}

TEST(CorpusScore, AsJson) {
    const Json j = json_of(measure_chrf(outputs, two_references).score);
    EXPECT_EQ(j["name"], "chrF2");
    EXPECT_EQ(j["higher_is_better"], true);
    EXPECT_EQ(j["signature"], "nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|fovea:0.1.0");
}

}  // namespace
}  // namespace fovea
