#include "fovea/tasks/seq2seq_score.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TextMetric fitting(const std::string& task, const std::string& target) {
    return fitting_metric(task, std::vector<References>(10, References{target})).metric;
}

TEST(FittingMetric, TranslationsByBleuSummariesByRouge) {
    EXPECT_EQ(fitting("translate", "the cat sat on the mat"), TextMetric::bleu);
    EXPECT_EQ(fitting("summarise", "lunch"), TextMetric::rouge);
}

TEST(FittingMetric, ScriptsWithoutSpacesHaveWordsToo) {
    EXPECT_EQ(fitting("translate", "数字是四二。"), TextMetric::bleu);
    EXPECT_EQ(fitting("translate", "これはペンです"), TextMetric::bleu);
    EXPECT_EQ(fitting("translate", "สวัสดีชาวโลก"), TextMetric::bleu);
}

TEST(FittingMetric, TargetsTooShortForFourGramsByChrf) {
    EXPECT_EQ(fitting("translate", "1987"), TextMetric::chrf);
    EXPECT_EQ(fitting("translate", "guten Tag"), TextMetric::chrf);
    EXPECT_FALSE(fitting_metric("translate", std::vector<References>{{"eins"}}).why.empty());
}

TEST(TextMetric, NamesComeBack) {
    for (const char* name : {"auto", "bleu", "chrf", "rouge", "exact", "loss"})
        EXPECT_STREQ(name_of(text_metric_of(name)), name);
    EXPECT_THROW(text_metric_of("rogue"), Error);
}

}  // namespace
}  // namespace fovea
