#include <gtest/gtest.h>

#include "fovea/metrics/bleu.h"

namespace fovea {
namespace {

std::string fitting(const std::vector<std::string>& lines) {
    return name_of(fitting_tokenizer(lines));
}

TEST(FittingTokenizer, ByTheScript) {
    EXPECT_EQ(fitting({"The cat sat on the mat.", "北京"}), "13a");
    EXPECT_EQ(fitting({"Это предложение.", "Ein Satz über Öl."}), "13a");
    EXPECT_EQ(fitting({"안녕하세요 세계, 한국어에는 띄어쓰기가 있습니다."}), "13a");
    EXPECT_EQ(fitting({"हिन्दी में खाली स्थान होते हैं।", "هذه جملة عربية."}), "13a");
    EXPECT_EQ(fitting({"数字是四二。", "他在北京大学学习中文。"}), "zh");
    EXPECT_EQ(fitting({"我用 Linux 写 C++ 程序。"}), "zh");
    EXPECT_EQ(fitting({"𠀀𠀁𪛖"}), "zh");
    EXPECT_EQ(fitting({"日本語のテキストです。", "東京都は大きい。"}), "char");
    EXPECT_EQ(fitting({"ｶﾀｶﾅ"}), "char");
    EXPECT_EQ(fitting({"ภาษาไทยไม่มีช่องว่างระหว่างคำ"}), "char");
    EXPECT_EQ(fitting({"ພາສາລາວບໍ່ມີຊ່ອງຫວ່າງ"}), "char");
    EXPECT_EQ(fitting({"ភាសាខ្មែរមិនមានចន្លោះ"}), "char");
    EXPECT_EQ(fitting({"မြန်မာဘာသာစကား"}), "char");
    EXPECT_EQ(fitting({"བོད་ཡིག་གི་ཚིག"}), "char");
}

TEST(FittingTokenizer, ByTheShareOfLetters) {
    EXPECT_EQ(fitting({}), "13a");
    EXPECT_EQ(fitting({"", "1,234.5 !?"}), "13a");
    EXPECT_EQ(fitting({"\xff\xfe"}), "13a");
    EXPECT_EQ(fitting({"abc中"}), "zh");                // a quarter
    EXPECT_EQ(fitting({"abcd中"}), "13a");              // less
    EXPECT_EQ(fitting({"12345678 (中) 2024!"}), "zh");  // digits and marks belong to no language
    EXPECT_EQ(fitting({"漢字漢字漢字漢字漢の"}), "char");
    EXPECT_EQ(fitting({"漢字漢字漢字漢字漢字の"}), "zh");
}

// The finding behind it: under 13a a Chinese sentence is one word, and a good translation scores 0.
TEST(FittingTokenizer, MakesChineseScoresTellModelsApart) {
    const std::vector<std::string> outputs{"他在北京大学学习汉语。"};
    const std::vector<References> references{{"他在北京大学学习中文。"}};
    const auto under = [&](BleuTokenizer t) {
        return corpus_bleu(outputs, references, {.tokenizer = t}).score;
    };
    EXPECT_EQ(under(BleuTokenizer::v13a), 0);
    EXPECT_GT(under(fitting_tokenizer(references[0])), 50);
}

}  // namespace
}  // namespace fovea
