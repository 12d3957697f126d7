#include "fovea/data/masking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"
#include "fovea/text/train/train_tokenizer.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

// Ids 0 … 9 are special, 10 … 99 begin words, 100 … 199 continue them.
MaskVocabulary vocabulary() {
    MaskVocabulary v{.mask = 4, .special = {}, .continues = {}};
    for (int i = 0; i < 200; ++i) {
        v.special.push_back(i < 10);
        v.continues.push_back(i >= 100);
    }
    return v;
}

Ids random_tokens(std::size_t count, std::uint64_t seed) {
    Rng rng(seed);
    Ids ids;
    while (ids.size() < count) ids.push_back(static_cast<TokenId>(rng.below(200)));
    return ids;
}

struct Result {
    Ids tokens;
    ChosenTokens chosen;
};

Result masked(const MaskingOptions& o, Ids tokens, std::int64_t epoch = 0,
              std::uint64_t document = 7) {
    Result r{std::move(tokens), {}};
    const TextRun run{.document = document, .size = static_cast<std::int64_t>(r.tokens.size())};
    Masker(o, vocabulary()).mask(r.tokens, {&run, 1}, epoch, 0, r.chosen);
    return r;
}

TEST(Masking, SharesAreThoseOfThePaper) {
    const Ids before = random_tokens(200'000, 1);
    const auto ordinary = static_cast<double>(
        std::count_if(before.begin(), before.end(), [](TokenId t) { return t >= 10; }));
    const Result r = masked({}, before);
    double hidden = 0, kept = 0, replaced = 0;
    for (std::size_t i = 0; i < r.chosen.rows.size(); ++i) {
        const auto at = static_cast<std::size_t>(r.chosen.rows[i]);
        EXPECT_EQ(r.chosen.labels[i], before[at]);
        EXPECT_GE(before[at], 10);  // never a special token
        const TokenId now = r.tokens[at];
        EXPECT_TRUE(now == 4 || now >= 10);  // nor is one drawn
        (now == 4 ? hidden : now == before[at] ? kept : replaced) += 1;
    }
    const auto chosen = static_cast<double>(r.chosen.rows.size());
    EXPECT_NEAR(chosen / ordinary, 0.15, 0.004);
    EXPECT_NEAR(hidden / chosen, 0.8, 0.01);
    EXPECT_NEAR(replaced / chosen, 0.1, 0.01);
    EXPECT_NEAR(kept / chosen, 0.1, 0.01);
    // What was not chosen is as it was.
    Ids restored = r.tokens;
    for (std::size_t i = 0; i < r.chosen.rows.size(); ++i)
        restored[static_cast<std::size_t>(r.chosen.rows[i])] = r.chosen.labels[i];
    EXPECT_EQ(restored, before);
}

TEST(Masking, WholeWordsStayWhole) {
    const Ids before = random_tokens(50'000, 2);
    const Result r = masked({.whole_words = true}, before);
    std::vector<bool> chosen(before.size());
    for (const std::int32_t row : r.chosen.rows) chosen[static_cast<std::size_t>(row)] = true;
    for (std::size_t i = 1; i < before.size(); ++i)
        EXPECT_TRUE(before[i] < 100 || before[i - 1] < 10 || chosen[i] == chosen[i - 1]) << i;
    EXPECT_NEAR(static_cast<double>(r.chosen.rows.size()), 0.95 * 0.15 * 50'000, 500);
}

TEST(Masking, DependsOnSeedEpochAndDocumentAlone) {
    const Ids before = random_tokens(300, 3);
    const Result whole = masked({.seed = 5}, before, 2);
    EXPECT_EQ(whole.tokens, masked({.seed = 5}, before, 2).tokens);
    EXPECT_NE(whole.tokens, masked({.seed = 6}, before, 2).tokens);
    EXPECT_NE(whole.tokens, masked({.seed = 5}, before, 3).tokens);
    EXPECT_NE(whole.tokens, masked({.seed = 5}, before, 2, 8).tokens);
    EXPECT_EQ(masked({.anew = false, .seed = 5}, before, 2).tokens,
              masked({.anew = false, .seed = 5}, before, 3).tokens);
    // In parts, in another order, with other documents between: the same.
    const Masker masker({.seed = 5}, vocabulary());
    Ids parts = random_tokens(50, 9);
    parts.insert(parts.end(), before.begin() + 100, before.end());
    const TextRun runs[] = {{.document = 11, .size = 50},
                            {.document = 7, .place = 100, .size = 200}};
    ChosenTokens chosen;
    masker.mask(parts, runs, 2, 1000, chosen);
    EXPECT_TRUE(std::equal(parts.begin() + 50, parts.end(), whole.tokens.begin() + 100));
    EXPECT_GE(chosen.rows.front(), 1000);
    // A guest has masks of its own.
    Ids guest = before;
    const TextRun again{.document = 7, .size = 300, .again = 1};
    masker.mask(guest, {&again, 1}, 2, 0, chosen);
    EXPECT_NE(guest, whole.tokens);
}

TEST(Masking, EverySequenceTeachesSomething) {
    for (std::uint64_t d = 0; d < 50; ++d) {
        EXPECT_GE(masked({}, {3, 10, 3}, 0, d).chosen.rows.size(), 1u);
        const Result r = masked({.whole_words = true}, {10, 110, 110}, 0, d);
        EXPECT_EQ(r.chosen.rows.size(), 3u);
    }
    EXPECT_TRUE(masked({}, {1, 2, 3}).chosen.rows.empty());
}

TEST(Masking, KnowsTheWordsOfATokenizer) {
    TokenizerTraining t = training_like("bert-uncased");
    t.vocab_size = 60;
    WordCounts words;
    for (const char* w : {"playing", "played", "plays", "ing"}) words.add(w, 10);
    const Tokenizer bert(train_tokenizer(words, t));
    const MaskVocabulary v = mask_vocabulary(bert);
    EXPECT_EQ(v.mask, bert.mask_id());
    int pieces = 0;
    for (std::size_t i = 0; i < v.special.size(); ++i) {
        const std::string piece = *bert.id_to_token(static_cast<TokenId>(i));
        EXPECT_EQ(v.special[i], piece.starts_with("[")) << piece;
        EXPECT_EQ(v.continues[i], piece.starts_with("##")) << piece;
        pieces += v.continues[i];
    }
    EXPECT_GT(pieces, 3);
    const std::vector<std::string> texts = {"a b"};
    EXPECT_THROW(mask_vocabulary(train_vocabulary(texts, {.kind = VocabularyKind::words})), Error);
}

}  // namespace
}  // namespace fovea
