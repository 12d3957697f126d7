#include "fovea/data/rule_spans.h"

#include <gtest/gtest.h>

#include "fovea/data/word_spans.h"

namespace fovea {
namespace {

// What is found in a text: "date: 17 May | number: 3".
std::string found_in(const std::string& text, RuleKinds kinds = {}) {
    std::vector<std::string> words;
    const std::vector<TextSpan> spans = word_spans(text);
    for (const TextSpan& s : spans)
        words.push_back(text.substr(static_cast<std::size_t>(s.begin),
                                    static_cast<std::size_t>(s.end - s.begin)));
    std::string out;
    for (const RuleSpan& r : rule_spans(words, kinds)) {
        const auto begin = static_cast<std::size_t>(spans[r.first].begin);
        out += (out.empty() ? "" : " | ") + std::string(r.kind) + ": " +
               text.substr(begin, static_cast<std::size_t>(spans[r.last].end) - begin);
    }
    return out;
}

TEST(RuleSpans, FindsDates) {
    for (const char* date :
         {"2024-05-17", "17.05.2024", "17 May 2024", "May 17, 2024", "May 17th", "17th of May",
          "5/17/2024", "17/5/24", "Friday, 17 May 2024", "tomorrow", "next Friday", "last week",
          "Sept. 3", "December 1999", "Monday"}) {
        EXPECT_EQ(found_in(std::string("we met ") + date + " in Oslo"),
                  std::string("date: ") + date);
    }
}

TEST(RuleSpans, FindsNumbers) {
    for (const char* number : {"12", "1,250.5", "3.14", "12 %", "5 million", "twenty-one thousand",
                               "two hundred and five", "seven percent", "1999"}) {
        EXPECT_EQ(found_in(std::string("about ") + number + " of them"),
                  std::string("number: ") + number);
    }
}

TEST(RuleSpans, LeavesTheRestAlone) {
    EXPECT_EQ(found_in("May I march on? The second hand and A4 paper."), "");
    EXPECT_EQ(found_in("version 1.2.3 of x86-64 by B2B"), "");
    EXPECT_EQ(found_in("on 31 May, 40 people"), "date: 31 May | number: 40");
    EXPECT_EQ(found_in("on 31 May, 40 people", {.dates = false}), "number: 40");
    EXPECT_EQ(found_in("on 31 May, 40 people", {.numbers = false}), "date: 31 May");
    EXPECT_EQ(found_in(""), "");
}

}  // namespace
}  // namespace fovea
