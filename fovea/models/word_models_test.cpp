// The small models over word vectors: against PyTorch, and what is special about each.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/models/bag.h"
#include "fovea/models/convolution.h"
#include "fovea/models/single_head.h"
#include "fovea/models/word_rows.h"
#include "fovea/models/word_scores.h"
#include "fovea/nn/pooling.h"

namespace fovea {
namespace {

void fill(ParameterStore& store, const Json& parameters) {
    for (const auto& [name, p] : parameters.items()) {
        const auto values = p["values"].get<std::vector<float>>();
        const auto sizes = p["shape"].get<std::vector<std::int64_t>>();
        const Shape shape = sizes.size() == 1   ? Shape{sizes[0]}
                            : sizes.size() == 2 ? Shape{sizes[0], sizes[1]}
                                                : Shape{sizes[0], sizes[1], sizes[2]};
        store.get(name, shape,
                  [&](Tensor& t) { std::copy(values.begin(), values.end(), t.write()); });
    }
}

TEST(WordModels, RowsAreThoseOfPyTorch) {
    const Json g = read_json(FOVEA_SOURCE_DIR "/tests/goldens/word_models.json");
    const auto texts = g["texts"].get<std::vector<Ids>>();
    int compared = 0;
    for (const Json& c : g["cases"]) {
        if (c["config"].contains("pooling")) continue;  // of a whole classifier: tasks compare it
        ParameterStore store;
        fill(store, c["parameters"]);
        Rng rng;
        const TextEncoder e = text_encoder_of(c["config"], "golden")
                                  .make(c["config"], "golden", {}, Params(store, rng));
        const std::vector<float> rows = e.rows(pack(texts)).values();
        std::vector<double> wanted;
        for (const Json& w : c["rows"]) {
            const auto part = w.get<std::vector<double>>();
            wanted.insert(wanted.end(), part.begin(), part.end());
        }
        ASSERT_EQ(rows.size(), wanted.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            EXPECT_NEAR(rows[i], wanted[i], 2e-6) << c["config"] << i;
        ++compared;
    }
    EXPECT_EQ(compared, 5);
}

template <class Config>
Config tiny_config() {
    Config c;
    c.vocab_size = 40;
    c.embedding_size = 6;
    c.hidden_size = 6;
    c.dropout = 0;
    return c;
}

TokenBatch one(const Ids& ids) { return pack(std::vector<Ids>{ids}); }

// A word's row in one text and in another.
bool same_row(const Tensor& a, std::int64_t i, const Tensor& b, std::int64_t j) {
    return std::equal(a.data() + i * a.cols(), a.data() + (i + 1) * a.cols(),
                      b.data() + j * b.cols());
}

TEST(WordModels, OnlyAttentionMovesWithTheContextAnywhere) {
    Rng rng(3);
    ParameterStore vectors, heads;
    const Json config = WordRows::new_weighted_sum({.width = 6, .vocabulary = 40});
    const TextEncoder fixed = WordRows::make(config, "config", {}, Params(vectors, rng));
    EXPECT_TRUE(same_row(fixed.rows(one({5, 6, 7})), 0, fixed.rows(one({5, 8, 9})), 0));
    const SingleHead attends(tiny_config<SingleHeadConfig>(), Params(heads, rng));
    EXPECT_FALSE(same_row(attends(one({5, 6, 7})), 0, attends(one({5, 6, 9})), 0));
    // without positions, words are a set
    const Tensor a = attends(one({5, 6, 7})), b = attends(one({5, 7, 6}));
    for (int c = 0; c < 6; ++c) EXPECT_NEAR(a.at(0, c), b.at(0, c), 1e-6);
}

TEST(WordModels, AWindowSeesItsNeighboursAndNoOther) {
    Rng rng(3);
    ParameterStore store;
    ConvolutionConfig c = tiny_config<ConvolutionConfig>();
    c.window_sizes = {2, 3};
    const Convolution model(c, Params(store, rng));
    const Tensor a = model(one({5, 6, 7, 8})), b = model(one({5, 6, 7, 9}));
    EXPECT_TRUE(same_row(a, 0, b, 0));
    EXPECT_TRUE(same_row(a, 1, b, 1));
    EXPECT_FALSE(same_row(a, 2, b, 2));  // the window of three reaches the last word
}

TEST(WordModels, TheBagCountsRunsThatEndWithAWord) {
    Rng rng(3);
    ParameterStore store;
    BagConfig c = tiny_config<BagConfig>();
    c.max_ngram = 2;
    c.buckets = 1000;
    const Bag bag(c, Params(store, rng));
    const Tensor rows = bag(one({5, 6, 7}));
    EXPECT_TRUE(
        std::equal(rows.data(), rows.data() + 6, bag.table.data() + 5 * 6));  // word 5 alone
    EXPECT_TRUE(same_row(rows, 2, bag(one({9, 6, 7})), 2));   // the run 6 7 both times
    EXPECT_FALSE(same_row(rows, 2, bag(one({6, 9, 7})), 2));  // another one
}

// A bag of characters: 1 parts words, 2 ends a text.
BagConfig character_bag() {
    BagConfig c = tiny_config<BagConfig>();
    c.separator_id = 1;
    c.end_id = 2;
    c.min_ngram = 2;
    c.max_ngram = 3;
    c.buckets = 5000;
    return c;
}

std::vector<float> bag_row(const Bag& bag, const Ids& ids, std::int64_t i) {
    const Tensor t = bag(one(ids));
    return std::vector<float>(t.data() + i * 6, t.data() + (i + 1) * 6);
}

TEST(WordModels, TheBagOfCharactersKnowsWords) {
    Rng rng(3);
    ParameterStore store;
    const Bag bag(character_bag(), Params(store, rng));
    const auto row = [&](const Ids& ids, std::int64_t i) { return bag_row(bag, ids, i); };
    EXPECT_EQ(row({4, 5, 1, 6, 7}, 0), std::vector<float>(6, 0.0f));  // no run of two yet
    EXPECT_EQ(row({4, 5, 1, 6, 7}, 3), row({9, 1, 6, 7}, 2));  // runs do not reach over a separator
    EXPECT_EQ(row({4, 5, 1, 6, 7}, 2), row({4, 5, 1, 8}, 2));  // but end with it
    EXPECT_NE(row({4, 5, 1, 6, 7}, 2), row({4, 8, 1, 6, 7}, 2));
    EXPECT_EQ(row({4, 5, 6}, 1), row({4, 5, 9}, 1));              // within a word: characters alone
    EXPECT_NE(row({4, 5, 1, 6, 7}, 1), row({4, 5, 6}, 1));        // at its end: the word too
    EXPECT_NE(row({4, 5, 1, 6, 7}, 4), row({4, 8, 1, 6, 7}, 4));  // and the pair of words
    EXPECT_EQ(row({4, 5, 1, 6, 7}, 4), row({9, 1, 4, 5, 1, 6, 7}, 6));  // and nothing before
    EXPECT_EQ(row({4, 5, 1, 6, 7}, 4), row({4, 5, 1, 6, 7, 2}, 4));     // wherever the text ends
}

// "(ab)c": brackets part words and are words, and the word between them is the same as ever.
TEST(WordModels, TheBagTakesMarksForWords) {
    Rng rng(3);
    ParameterStore store;
    BagConfig c = character_bag();
    c.word_ngram = 1;
    const Bag plain(c, Params(store, rng));
    c.mark_ids = {8, 9};
    Bag bag = plain;
    bag.config = BagConfig::from_json(c.to_json(), "config");
    EXPECT_EQ(bag.config.mark_ids, c.mark_ids);
    EXPECT_EQ(bag_row(bag, {8, 4, 5, 9, 6}, 2), bag_row(bag, {1, 4, 5, 1, 6}, 2));
    EXPECT_NE(bag_row(plain, {8, 4, 5, 9, 6}, 2), bag_row(plain, {1, 4, 5, 1, 6}, 2));
    EXPECT_NE(bag_row(bag, {1, 4, 5, 8}, 3),
              bag_row(bag, {1, 4, 5, 9}, 3));  // two marks are two words
    EXPECT_EQ(bag_row(bag, {1, 4, 5, 1}, 3), bag_row(plain, {1, 4, 5, 1}, 3));
}

TEST(WordModels, HeadsMustDivide) {
    try {
        SingleHead::new_config({.width = 8, .heads = 3, .hidden = 8, .vocabulary = 9});
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        EXPECT_NE(e.hint().find("--hidden"), std::string::npos);
    }
    Json config = SingleHead::new_config({.width = 8, .heads = 2, .hidden = 8, .vocabulary = 9});
    config["num_attention_heads"] = 3;
    EXPECT_THROW(SingleHeadConfig::from_json(config, "config"), Error);
}

// tf-idf by hand: three texts over tokens that are words, runs of one token alone.
TEST(WordModels, ScoresWeighRareRunsMoreAndSumThem) {
    Rng rng(3);
    ParameterStore store;
    WordScoresConfig c = tiny_config<WordScoresConfig>();
    c.max_ngram = 1;
    c.buckets = 8;
    const WordScores model(c, {Head::classes, 2}, Params(store, rng));
    model.count(pack(std::vector<Ids>{{5, 6}, {5, 7}, {5, 6, 6}}));
    const double common = 1, half = 1 + std::log(4.0 / 3), rare = 1 + std::log(4.0 / 2);
    EXPECT_NEAR(model.idf.data()[5], common, 1e-6);
    EXPECT_NEAR(model.idf.data()[6], half, 1e-6);
    EXPECT_NEAR(model.idf.data()[7], rare, 1e-6);
    EXPECT_EQ(model.idf.data()[8], 0.0f);  // no text has it

    float* table = Tensor(model.table).write();
    for (int token = 5; token <= 8; ++token) table[token * 2 + 1] = static_cast<float>(token);
    Tensor(model.bias).write()[0] = 0.5f;
    const TokenBatch batch = pack(std::vector<Ids>{{6, 5, 6, 8}, {8}});
    const Tensor y = model.sum(model(batch), batch.segments);
    const double twice = (1 + std::log(2.0)) * half, norm = std::hypot(twice, common);
    EXPECT_NEAR(y.at(0, 0), 0.5, 1e-6);
    EXPECT_NEAR(y.at(0, 1), (twice * 6 + common * 5) / norm, 1e-5);
    EXPECT_EQ(y.at(1, 1), 0.0f);  // nothing known: the bias alone
}

// The letters of a text and its words count the same, however many there are of each.
TEST(WordModels, ScoresOfLettersAndOfWordsHaveOneLength) {
    Rng rng(3);
    ParameterStore store;
    WordScoresConfig c = tiny_config<WordScoresConfig>();
    c.separator_id = 1;
    c.end_id = 2;
    c.min_ngram = 2;
    c.max_ngram = 3;
    c.buckets = 5000;
    const WordScores model(c, {Head::classes, 1}, Params(store, rng));
    const Ids ids{7, 8, 9, 10, 1, 11, 12, 2};
    WordRuns runs(c, c.vocab_size);
    runs.add(ids);
    float* table = Tensor(model.table).write();
    double words = 0, letters = 0;
    for (std::size_t i = 0; i < runs.ids.size(); ++i) {
        (runs.of_words[i] ? words : letters) += 1;
        if (runs.of_words[i]) table[runs.ids[i]] = 1.0f;
    }
    EXPECT_EQ(words, 3);  // two and their pair
    EXPECT_GT(letters, 5);
    const TokenBatch batch = one(ids);
    EXPECT_NEAR(model.sum(model(batch), batch.segments).at(0, 0), std::sqrt(3.0), 1e-5);
}

}  // namespace
}  // namespace fovea
