#include "fovea/text/steps/added_tokens.h"

#include <gtest/gtest.h>

#include "fovea/base/rng.h"

namespace fovea::text {
namespace {

// Leftmost, then longest, by looking everywhere.
bool slow_find(const std::vector<std::string>& strings, std::string_view text, std::size_t from,
               StringFinder::Hit& hit) {
    for (std::size_t begin = from; begin < text.size(); ++begin) {
        bool found = false;
        for (std::size_t i = 0; i < strings.size(); ++i) {
            const std::string& s = strings[i];
            if (s.empty() || text.compare(begin, s.size(), s) != 0) continue;
            if (!found || begin + s.size() > hit.end) hit = {begin, begin + s.size(), i};
            found = true;
        }
        if (found) return true;
    }
    return false;
}

TEST(AddedTokens, FinderAgreesWithLookingEverywhere) {
    Rng rng(11);
    const auto word = [&](std::int64_t longest, std::int64_t letters) {
        std::string s;
        for (std::int64_t i = 1 + rng.below(longest); i > 0; --i)
            s += static_cast<char>('a' + rng.below(letters));
        return s;
    };
    for (int n = 0; n < 3000; ++n) {
        std::vector<std::string> strings;
        for (std::int64_t i = rng.below(6); i >= 0; --i) strings.push_back(word(5, 3));
        const StringFinder finder(strings);
        const std::string text = word(40, 3);
        for (std::size_t from = 0; from <= text.size();) {
            StringFinder::Hit a{}, b{};
            const bool fa = finder.find(text, from, a), fb = slow_find(strings, text, from, b);
            ASSERT_EQ(fa, fb) << text;
            if (!fa) break;
            ASSERT_EQ(a.begin, b.begin) << text;
            ASSERT_EQ(a.end, b.end) << text;
            ASSERT_EQ(strings[a.string], strings[b.string]);
            from = a.end;
        }
    }
}

std::vector<AddedMatch> find(AddedToken t, std::string_view text) {
    const std::string content = t.content;
    const AddedTokenFinder f({std::move(t)}, {content});
    std::vector<AddedMatch> matches;
    f.find(text, matches);
    return matches;
}

AddedToken token(const char* content) {
    AddedToken t;
    t.content = content;
    return t;
}

TEST(AddedTokens, SingleWordWantsNoWordCharacterBesideIt) {
    AddedToken t = token("fox");
    t.single_word = true;
    EXPECT_EQ(find(t, "a fox.").size(), 1u);
    EXPECT_EQ(find(t, "foxes firefox").size(), 0u);
    EXPECT_EQ(find(t, "éfox").size(), 0u);
    EXPECT_EQ(find(t, "fox").size(), 1u);
}

TEST(AddedTokens, StripsTakeWhiteSpaceAlong) {
    AddedToken t = token("<m>");
    t.lstrip = t.rstrip = true;
    const auto m = find(t, "a \u3000<m>\t\n b <m><m>");
    ASSERT_EQ(m.size(), 3u);
    EXPECT_EQ(m[0].range, (ByteRange{1, 11}));
    EXPECT_EQ(m[1].range, (ByteRange{12, 16}));
    EXPECT_EQ(m[2].range, (ByteRange{16, 19}));
}

TEST(AddedTokens, EmptyTokensAreNeverFound) {
    EXPECT_TRUE(find(token(""), "abc").empty());
    EXPECT_TRUE(find(token("x"), "").empty());
}

}  // namespace
}  // namespace fovea::text
