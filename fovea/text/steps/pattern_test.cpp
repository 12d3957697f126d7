#include "fovea/text/steps/pattern.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea::text {
namespace {

std::vector<ByteRange> find(const Pattern& p, std::string_view text) {
    std::vector<ByteRange> matches;
    Matcher(p, "test").find(text, matches);
    return matches;
}

TEST(Matcher, Literals) {
    EXPECT_EQ(find({"ab", false}, "ababxab"), (std::vector<ByteRange>{{0, 2}, {2, 4}, {5, 7}}));
    EXPECT_EQ(find({"é", false}, "aéb"), (std::vector<ByteRange>{{1, 3}}));
    EXPECT_EQ(find({"", false}, "aé"), (std::vector<ByteRange>{{0, 0}, {1, 1}, {3, 3}}));
    EXPECT_TRUE(find({"a.c", false}, "abc").empty());
}

TEST(Matcher, RegularExpressions) {
    EXPECT_EQ(find({"x*", true}, "axb"), (std::vector<ByteRange>{{0, 0}, {1, 2}, {3, 3}}));
    EXPECT_EQ(find({"\\p{Lu}", true}, "aÉb"), (std::vector<ByteRange>{{1, 3}}));
    EXPECT_EQ(find({"^a", true}, "b\nab"), (std::vector<ByteRange>{{2, 3}}));  // line starts
    EXPECT_EQ(find({" {2,}", true}, "a  b   c"), (std::vector<ByteRange>{{1, 3}, {4, 7}}));
}

TEST(Matcher, BadExpressionIsAnErrorThatSaysWhere) {
    try {
        const Matcher bad({"a(b", true}, "pre_tokenizer Split");
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("pre_tokenizer Split"), std::string::npos);
        EXPECT_NE(std::string(e.what()).find("a(b"), std::string::npos);
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
    }
}

TEST(Matcher, EndlessBacktrackingIsAnErrorAndNoHang) {
    EXPECT_THROW(find({"(?:a|aa)+!", true}, std::string(200, 'a') + "?!"), Error);  // exponential
    // quadratic: every space looks for the end of the run
    EXPECT_THROW(find({"(?: )+$", true}, std::string(300000, ' ') + "x"), Error);
}

}  // namespace
}  // namespace fovea::text
