#include "fovea/text/models/vocabulary.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Vocabulary, LooksUpBothWays) {
    Vocabulary v({"a", "b", "", "##c"});
    EXPECT_EQ(v.size(), 4u);
    EXPECT_EQ(v.end_id(), 4);
    EXPECT_EQ(v.find("##c"), 3);
    EXPECT_EQ(v.find(""), 2);
    EXPECT_EQ(v.find("zz"), -1);
    EXPECT_EQ(v.token(1), "b");
    EXPECT_EQ(v.token(4).data(), nullptr);
    EXPECT_EQ(v.token(-1).data(), nullptr);
    EXPECT_NE(v.token(2).data(), nullptr);  // the empty token is a token
}

TEST(Vocabulary, EmptyOneKnowsNothing) {
    const Vocabulary v;
    EXPECT_EQ(v.find("a"), -1);
    EXPECT_EQ(v.token(0).data(), nullptr);
    EXPECT_EQ(v.end_id(), 0);
}

TEST(Vocabulary, LastIdWinsAndHolesAreHoles) {
    Vocabulary v;
    v.add("a", 5);
    v.add("b", 7);
    v.add("a", 2);
    EXPECT_EQ(v.size(), 2u);
    EXPECT_EQ(v.find("a"), 2);
    EXPECT_EQ(v.token(5).data(), nullptr);
    EXPECT_EQ(v.token(2), "a");
    EXPECT_EQ(v.end_id(), 8);
    const auto sorted = v.by_id();
    ASSERT_EQ(sorted.size(), 2u);
    EXPECT_EQ(sorted[0].token, "a");
    EXPECT_EQ(sorted[1].id, 7);
}

TEST(Vocabulary, FarIdsCostNoMemory) {
    Vocabulary v;
    v.add("near", 0);
    v.add("far", 2000000000);
    EXPECT_EQ(v.token(2000000000), "far");
    EXPECT_EQ(v.token(1999999999).data(), nullptr);
    EXPECT_THROW(v.add("negative", -1), Error);
    EXPECT_THROW(v.add("beyond", 2147483647), Error);
}

TEST(Vocabulary, GrowsWithManyTokens) {
    Vocabulary v;
    for (int i = 0; i < 20000; ++i) v.add(text_of("t", i * 7), i);
    for (int i = 0; i < 20000; ++i) {
        ASSERT_EQ(v.find(text_of("t", i * 7)), i);
        ASSERT_EQ(v.token(i), text_of("t", i * 7));
    }
}

}  // namespace
}  // namespace fovea
