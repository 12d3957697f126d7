#include "fovea/text/models/word_cache.h"

#include <gtest/gtest.h>

namespace fovea::text {
namespace {

std::vector<TokenId> found(WordCache& cache, std::string_view word, bool& hit) {
    const auto ids = cache.place(word, hit).tokens();
    return {ids.begin(), ids.end()};
}

TEST(WordCache, GivesBackWhatWasStored) {
    WordCache cache;
    bool hit = true;
    const std::vector<TokenId> ids = {3, 1, 4};
    cache.store(cache.place("river", hit), "river", ids);
    EXPECT_FALSE(hit);
    EXPECT_EQ(found(cache, "river", hit), ids);
    EXPECT_TRUE(hit);
    cache.place("rivers", hit);
    EXPECT_FALSE(hit);
}

// A word of characters that the model drops has no ids. (Under the sanitizers this test also shows
// that the empty span's null pointer goes nowhere it must not.)
TEST(WordCache, RemembersWordsWithoutIds) {
    WordCache cache;
    bool hit = true;
    cache.store(cache.place("\xEF\xBF\xBD", hit), "\xEF\xBF\xBD", std::span<const TokenId>());
    EXPECT_EQ(found(cache, "\xEF\xBF\xBD", hit), std::vector<TokenId>());
    EXPECT_TRUE(hit);
}

TEST(WordCache, TakesOnlyShortWords) {
    EXPECT_FALSE(WordCache::fits(""));
    EXPECT_TRUE(WordCache::fits("a"));
    EXPECT_TRUE(WordCache::fits(std::string(WordCache::longest_word, 'a')));
    EXPECT_FALSE(WordCache::fits(std::string(WordCache::longest_word + 1, 'a')));
}

}  // namespace
}  // namespace fovea::text
