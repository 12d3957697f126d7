#include "fovea/text/train/train_word_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "fovea/base/rng.h"

namespace fovea {
namespace {

TEST(WordCounts, CountsExactlyWithoutALimit) {
    WordCounts counts;
    std::map<std::string, std::int64_t> expected;
    Rng rng(1);
    for (int i = 0; i < 50000; ++i) {
        const std::string w = std::to_string(rng.below(rng.below(5000) + 1));
        counts.add(w);
        ++expected[w];
    }
    counts.add("", 7);  // an empty word is a word
    expected[""] = 7;
    ASSERT_EQ(counts.size(), expected.size());
    for (std::size_t i = 0; i < counts.size(); ++i)
        EXPECT_EQ(counts.count(i), expected[std::string(counts.word(i))]);
    EXPECT_EQ(counts.find("0"), expected["0"]);
    EXPECT_EQ(counts.find("never"), 0);
    EXPECT_EQ(counts.total(), 50007);
    EXPECT_EQ(counts.undercount(), 0);
}

TEST(WordCounts, StaysInsideItsLimitAndWithinItsPromise) {
    constexpr std::int64_t limit = 256 << 10;
    WordCounts counts(limit);
    std::map<std::string, std::int64_t> truth;
    Rng rng(2);
    for (int i = 0; i < 400000; ++i) {
        // Half of the words are a few hundred frequent ones, the rest are nearly all different.
        const std::string w = rng.below(2) ? "often" + std::to_string(rng.below(300))
                                           : "rare" + std::to_string(rng.below(1 << 20));
        counts.add(w);
        ++truth[w];
        ASSERT_LE(counts.memory(), limit);
    }
    ASSERT_GT(counts.dropped(), 0);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::int64_t is = truth[std::string(counts.word(i))];
        EXPECT_LE(counts.count(i), is);
        EXPECT_GE(counts.count(i), is - counts.undercount());
    }
    for (const auto& [w, n] : truth) {
        if (n > counts.undercount()) {
            EXPECT_GT(counts.find(w), 0) << w;
        }
    }
    for (int i = 0; i < 300; ++i) EXPECT_GT(counts.find("often" + std::to_string(i)), 100);
    EXPECT_EQ(counts.total(), 400000);
}

TEST(WordCounts, OneHugeWordIsKeptEvenBeyondTheLimit) {
    WordCounts counts(1);
    counts.add(std::string(100000, 'x'));
    EXPECT_EQ(counts.size(), 1u);
    counts.add("y");
    EXPECT_EQ(counts.find("y"), 1);
}

TEST(WordCounts, AddingAnotherTableIsAddingItsWords) {
    WordCounts a, b;
    a.add("x", 2);
    a.add("y");
    b.add("y", 3);
    b.add("z");
    a.add(b);
    EXPECT_EQ(a.find("x"), 2);
    EXPECT_EQ(a.find("y"), 4);
    EXPECT_EQ(a.find("z"), 1);
    EXPECT_EQ(a.total(), 7);
    b.clear();
    EXPECT_EQ(b.find("y"), 0);
    EXPECT_EQ(b.size(), 0u);
}

}  // namespace
}  // namespace fovea
