#include "fovea/models/word_vectors.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

// fastText 0.9.2: `fasttext print-ngrams` and Dictionary::computeSubwords give these n-grams, in
// this order, for minn 3 and maxn 4; rows are their FNV-1a hashes.
TEST(Subwords, AreThoseOfFastText) {
    Ids rows, want;
    SubwordRule{3, 4, 1000}.append_rows("été", 10, rows);
    for (const std::string gram : {"<ét", "<été", "été", "été>", "té>"})
        want.push_back(10 + static_cast<std::int32_t>(subword_hash(gram) % 1000));
    EXPECT_EQ(rows, want);
    rows.clear();
    SubwordRule{1, 2, 1000}.append_rows("a", 0, rows);
    want.clear();
    for (const std::string gram : {"<a", "a", "a>"})
        want.push_back(static_cast<std::int32_t>(subword_hash(gram) % 1000));
    EXPECT_EQ(rows, want);
    rows.clear();
    SubwordRule{3, 0, 1000}.append_rows("word", 0, rows);
    EXPECT_TRUE(rows.empty());
}

TEST(Subwords, HashIsFnvOverSignedBytes) {
    EXPECT_EQ(subword_hash(""), 2166136261u);
    EXPECT_EQ(subword_hash("a"), 0xe40c292cu);
    EXPECT_EQ(subword_hash("foobar"), 0xbf9cf968u);
    EXPECT_NE(subword_hash("\xc3\xa9"), 0u);
    // A byte above 127 is spread over all 32 bits: 2166136261 ^ 0xffffffc3 …
    EXPECT_EQ(subword_hash("\xc3"), (2166136261u ^ 0xffffffc3u) * 16777619u);
}

WordVectors four_words() {
    WordVectors v;
    v.words = {"east", "north", "north-east", "west"};
    v.input = Tensor::of({4, 2}, {2, 0, 0, 1, 3, 3, -1, 0});
    v.index();
    return v;
}

TEST(WordVectors, NeighboursAreByCosineWithoutTheQueryItself) {
    const WordVectors v = four_words();
    const WordNeighbours near(v);
    const std::vector<Ids> without{{0}, {}};
    const auto found = near.nearest(Tensor::of({2, 2}, {5, 0, 0, 0}), 2, without);
    ASSERT_EQ(found[0].size(), 2u);
    EXPECT_EQ(found[0][0].word, 2);
    EXPECT_NEAR(found[0][0].similarity, 0.7071f, 1e-4);
    EXPECT_EQ(found[0][1].word, 1);
    EXPECT_TRUE(found[1].empty());  // zeros have no direction
}

TEST(WordVectors, AnUnseenWordIsTheMeanOfItsNGrams) {
    WordVectors v = four_words();
    float out[2];
    EXPECT_FALSE(v.vector_of("south", out));
    EXPECT_EQ(out[0], 0);
    v.subwords = {3, 3, 1};
    v.input = Tensor::of({5, 2}, {2, 0, 0, 1, 3, 3, -1, 0, 8, 4});
    EXPECT_TRUE(v.vector_of("south", out));  // five n-grams, all in the one bucket
    EXPECT_EQ(out[0], 8);
    EXPECT_TRUE(v.vector_of("west", out));  // its own row and four n-grams
    EXPECT_FLOAT_EQ(out[0], (4 * 8 - 1) / 5.0f);
    EXPECT_EQ(v.rows_of(WordVectors::end_of_line).size(), 0u);
}

}  // namespace
}  // namespace fovea
