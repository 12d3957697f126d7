#include "fovea/infer/stop_strings.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/text/test_specs.h"

namespace fovea {
namespace {

struct Given {
    std::vector<std::string> pieces;
    std::string text;
    bool stopped = false;
};

Given run(const std::string& text, const std::vector<std::string>& stops,
          const std::string& prompt = "") {
    const Tokenizer tokenizer(text::tiny_gpt2());
    const auto before = tokenizer.encode_ids(prompt);
    StoppableText out(tokenizer, before, stops);
    Given g;
    for (const TokenId id : tokenizer.encode_ids(text)) {
        g.pieces.push_back(out.push(id));
        g.text += g.pieces.back();
        if (out.stopped()) break;
    }
    g.text += out.finish();
    g.stopped = out.stopped();
    return g;
}

TEST(StoppableText, WithoutStopsNothingWaits) {
    const Given g = run("the owl", {});
    EXPECT_EQ(g.text, "the owl");
    EXPECT_FALSE(g.stopped);
    for (const std::string& piece : g.pieces) EXPECT_FALSE(piece.empty());
}

TEST(StoppableText, AStopStringAcrossTokensIsCutOff) {
    // " the" is one token and "ll" another: neither border is one of the string's.
    const Given g = run("oh the hell of it", {"e hell"});
    EXPECT_EQ(g.text, "oh th");
    EXPECT_TRUE(g.stopped);
}

TEST(StoppableText, ABeginningThatComesToNothingIsGivenBack) {
    EXPECT_EQ(run("a STO b", {"STOP"}).text, "a STO b");
    EXPECT_EQ(run("a STO", {"STOP"}).text, "a STO");  // held back until the end
    EXPECT_EQ(run("SSTOP", {"STOP"}).text, "S");
    EXPECT_EQ(run("ababac", {"abac"}).text, "ab");
}

TEST(StoppableText, TheFirstOfSeveralCounts) {
    EXPECT_EQ(run("one. two\nthree", {"\n", ". "}).text, "one");
    EXPECT_EQ(run("x\n\ny", {"\n\n", "\n"}).text, "x");
}

TEST(StoppableText, ThePromptIsNoPartOfIt) {
    EXPECT_EQ(run("b", {"ab"}, "a").text, "b");
    // The prompt ends within a character, which the first token completes.
    const Given g = run("é", {"é"});
    EXPECT_EQ(g.text, "");
    EXPECT_TRUE(g.stopped);
}

TEST(StoppableText, AnEmptyStopIsRefused) { EXPECT_THROW(run("a", {""}), Error); }

}  // namespace
}  // namespace fovea
