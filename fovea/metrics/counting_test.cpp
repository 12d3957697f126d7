#include "fovea/metrics/counting.h"

#include <gtest/gtest.h>

#include "fovea/metrics/bleu.h"
#include "fovea/metrics/chrf.h"
#include "fovea/metrics/rouge.h"

namespace fovea {
namespace {

TEST(Counting, AccuracyExactMatchPerplexity) {
    const std::vector<int> a{1, 2, 3, 4}, b{1, 2, 0, 4};
    EXPECT_DOUBLE_EQ(accuracy<int>(a, b), 0.75);
    const std::vector<std::string> predictions{"x", "y ", "z"};
    const std::vector<References> references{{"w", "x"}, {"y"}, {"z"}};
    EXPECT_DOUBLE_EQ(exact_match(predictions, references), 2.0 / 3);
    Perplexity p;
    p.add(3 * std::log(8.0), 3);
    p.add(std::log(8.0), 1);
    EXPECT_NEAR(p.value(), 8, 1e-12);
    EXPECT_NEAR(p.bits_per(2), 6, 1e-12);
}

template <class F>
std::string message_of(F f) {
    try {
        f();
    } catch (const Error& e) {
        EXPECT_NE(e.kind(), ErrorKind::failed);
        return e.what();
    }
    return "no error";
}

TEST(Counting, RefusesWhatCannotBeScored) {
    const std::vector<std::string> one{"a"}, none;
    const std::vector<References> two{{"a"}, {"b"}}, nothing, bare{{}};
    EXPECT_EQ(message_of([&] { corpus_bleu(one, two); }), "BLEU: 1 hypotheses but 2 references");
    EXPECT_EQ(message_of([&] { corpus_chrf(none, nothing); }), "chrF: there is nothing to score");
    EXPECT_EQ(message_of([&] { corpus_rouge(one, bare); }), "ROUGE: segment 1 has no reference");
    EXPECT_EQ(message_of([&] { multi_bleu(one, two); }),
              "multi-bleu: 1 hypotheses but 2 references");
    EXPECT_EQ(message_of([&] { bleu_tokenizer("moses"); }),
              "BLEU: there is no tokenizer \"moses\"");
    EXPECT_EQ(message_of([&] { Perplexity().value(); }),
              "perplexity: there are no tokens to score");
    EXPECT_EQ(message_of([&] { accuracy<int>({}, {}); }), "accuracy: there is nothing to score");
}

TEST(Counting, BytesThatAreNotUtf8AreScoredNotThrown) {
    const std::vector<std::string> hyp{"a \xff\xfe b \xe4\xb8"};
    const std::vector<References> ref{{"a \xff\xfe b \xe4\xb8"}};
    for (const char* name : {"none", "13a", "intl", "char", "zh"})
        EXPECT_GT(
            corpus_bleu(
                hyp, ref,
                {.tokenizer = bleu_tokenizer(name), .lowercase = true, .effective_order = true})
                .score,
            99.9);
    EXPECT_NEAR(corpus_chrf(hyp, ref, {.word_order = 2}).score, 100, 1e-9);
    EXPECT_NEAR(corpus_rouge(hyp, ref, {.stemmer = true}).mean.rouge1.f1, 1, 1e-9);
}

TEST(Counting, TokenizedLinesAreNoticed) {
    std::vector<std::string> lines(99, "It ends here .");
    EXPECT_FALSE(looks_tokenized(lines));
    lines.push_back("So does this .");
    EXPECT_TRUE(looks_tokenized(lines));
}

}  // namespace
}  // namespace fovea
