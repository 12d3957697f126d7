#include "fovea/data/sentences.h"

#include <gtest/gtest.h>

#include <string>

namespace fovea {
namespace {

std::vector<std::string> sentences(std::string_view text) {
    std::vector<std::string> out;
    for (const TextPart& p : split_sentences(text))
        out.emplace_back(text.substr(p.begin, p.end - p.begin));
    return out;
}
using List = std::vector<std::string>;

TEST(Sentences, EndAtStopsQuestionsAndExclamations) {
    EXPECT_EQ(sentences("It rains. Why? Stop it! Well... Yes."),
              (List{"It rains.", "Why?", "Stop it!", "Well...", "Yes."}));
    EXPECT_EQ(sentences("No stop at the end"), (List{"No stop at the end"}));
    EXPECT_EQ(sentences("What?! Really."), (List{"What?!", "Really."}));
}

TEST(Sentences, AbbreviationsAndInitialsDoNotEndThem) {
    EXPECT_EQ(sentences("Mr. Smith met Dr. Brown vs. Prof. Gray. They spoke."),
              (List{"Mr. Smith met Dr. Brown vs. Prof. Gray.", "They spoke."}));
    EXPECT_EQ(sentences("J. R. R. Tolkien wrote it. George W. Bush read it."),
              (List{"J. R. R. Tolkien wrote it.", "George W. Bush read it."}));
    EXPECT_EQ(
        sentences("The U.S. Army left. It was in the U.S. The end came at 5 p.m. He slept."),
        (List{"The U.S. Army left.", "It was in the U.S.", "The end came at 5 p.m.", "He slept."}));
    EXPECT_EQ(sentences("See e.g. this, i.e. that."), (List{"See e.g. this, i.e. that."}));
    EXPECT_EQ(sentences("No. 5 is alive."), (List{"No. 5 is alive."}));
}

TEST(Sentences, NumbersAndNamesOfFilesStayWhole) {
    EXPECT_EQ(sentences("Pi is 3.14159. It was 1999. See fovea.h for more."),
              (List{"Pi is 3.14159.", "It was 1999.", "See fovea.h for more."}));
    EXPECT_EQ(sentences("1. Take two eggs.\n2. Beat them."),
              (List{"1. Take two eggs.", "2. Beat them."}));
}

TEST(Sentences, QuotesAndBracketsCloseBehindTheStop) {
    EXPECT_EQ(sentences("\"Go home.\" She went. (He stayed.) “Done.” End."),
              (List{"\"Go home.\"", "She went.", "(He stayed.)", "“Done.”", "End."}));
    EXPECT_EQ(sentences("\"Stop!\" he cried. \"Why?\" \"Because.\""),
              (List{"\"Stop!\" he cried.", "\"Why?\"", "\"Because.\""}));
}

TEST(Sentences, ChineseAndJapaneseStopsNeedNoSpace) {
    EXPECT_EQ(sentences("今天下雨。你好吗？「走吧。」他说。"),
              (List{"今天下雨。", "你好吗？", "「走吧。」", "他说。"}));
}

TEST(Sentences, LinesEndThemUnlessTheNextGoesOnInLowerCase) {
    EXPECT_EQ(sentences("First Citizen:\nBefore we proceed\nany further, hear me speak.\n\nAll:"),
              (List{"First Citizen:", "Before we proceed\nany further, hear me speak.", "All:"}));
    EXPECT_EQ(sentences("a heading\n\nlower case text"), (List{"a heading", "lower case text"}));
    EXPECT_EQ(sentences("all lower case.\nand so on\nand on.\nbye mr.\nsmith"),
              (List{"all lower case.", "and so on\nand on.", "bye mr.\nsmith"}));
    EXPECT_EQ(sentences("It ends.  \n  And goes on."), (List{"It ends.", "And goes on."}));
}

TEST(Sentences, NothingGivesNothingAndEveryCharacterIsKept) {
    EXPECT_EQ(sentences(""), List{});
    EXPECT_EQ(sentences(" \n\t \n"), List{});
    EXPECT_EQ(sentences("...").size(), 1u);
    const std::string text = "One. Two! 三。 Four?\nFive";
    std::string kept;
    for (const std::string& s : sentences(text)) kept += s;
    EXPECT_EQ(kept, "One.Two!三。Four?Five");
}

}  // namespace
}  // namespace fovea
