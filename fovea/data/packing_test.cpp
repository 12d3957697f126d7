#include "fovea/data/packing.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {
namespace {

const Tokenizer& words() {
    static const Tokenizer t = [] {
        std::vector<std::string> texts;
        for (int i = 0; i < 500; ++i) texts.push_back("w" + std::to_string(i) + " .");
        return train_vocabulary(texts, {.kind = VocabularyKind::words, .size = 600});
    }();
    return t;
}

// Documents of sentences of made-up words; each sentence has so many tokens, the stop included.
TokenDocuments made(const std::vector<std::vector<int>>& lengths,
                    const TokenDocumentsOptions& options = {}) {
    TokenDocumentsMaker maker(words(), options);
    Rng rng(4);
    for (const auto& document : lengths) {
        std::string text;
        for (const int n : document) {
            for (int i = 0; i + 1 < n; ++i)
                text += (i ? " w" : "w") + std::to_string(rng.below(500));
            text += ".\n";
        }
        maker.add(text, true);
    }
    return maker.finish();
}

std::vector<std::vector<int>> many(int documents, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<std::vector<int>> all;
    for (int d = 0; d < documents; ++d) {
        all.emplace_back();
        for (std::int64_t s = 3 + rng.below(12); s > 0; --s)
            all.back().push_back(3 + static_cast<int>(rng.below(9)));
    }
    return all;
}

TEST(TokenDocuments, KnowTheirSentencesAndJoints) {
    const TokenDocuments t = made({{3, 5}, {4}}, {.joint = 1});
    EXPECT_EQ(t.documents(), 2);
    EXPECT_EQ(t.sentences(), 3);
    EXPECT_EQ(t.size(), 13);  // one joint, between the two
    EXPECT_EQ(t.tokens()[8], 1);
    EXPECT_EQ(t.sentence(1), (TokenRange{3, 9}));
    EXPECT_EQ(t.document(1), (TokenRange{9, 13}));
    EXPECT_EQ(t.document_at(8), 0);
    EXPECT_EQ(t.document_at(9), 1);
    EXPECT_NE(t.name(0), t.name(1));
    EXPECT_FALSE(t.on_disk());
    EXPECT_LT(t.memory(), 1000);
}

TEST(TokenDocuments, BeyondTheBoundTheyLieInAScratchFile) {
    const auto lengths = many(50, 1);
    const TokenDocuments here = made(lengths), there = made(lengths, {.in_memory = 100});
    EXPECT_TRUE(there.on_disk());
    ASSERT_EQ(here.size(), there.size());
    EXPECT_TRUE(std::equal(here.tokens().begin(), here.tokens().end(), there.tokens().begin()));
}

TEST(TokenDocuments, LongSentencesAreCutIntoLikeParts) {
    const TokenDocuments t = made({{21}}, {.max_sentence = 8});
    EXPECT_EQ(t.sentences(), 3);
    for (int s = 0; s < 3; ++s) EXPECT_EQ(t.sentence(s).size(), 7);
}

TEST(TokenDocuments, TheTailIsTakenWhereASentenceBegins) {
    const auto lengths = many(30, 2);
    const TokenDocuments whole = made(lengths);
    TokenDocuments rest = made(lengths);
    const TokenDocuments tail = rest.take_tail(0.1);
    EXPECT_EQ(rest.size() + tail.size(), whole.size());
    EXPECT_EQ(rest.sentences() + tail.sentences(), whole.sentences());
    EXPECT_NEAR(static_cast<double>(tail.size()), 0.1 * static_cast<double>(whole.size()), 12);
    EXPECT_TRUE(std::equal(tail.tokens().begin(), tail.tokens().end(),
                           whole.tokens().begin() + rest.size()));
    for (std::int64_t s = 0; s < tail.sentences(); ++s)
        EXPECT_EQ(tail.sentence(s).begin + rest.size(), whole.sentence(rest.sentences() + s).begin);
    EXPECT_EQ(tail.document(tail.documents() - 1).end, tail.size());
    EXPECT_EQ(rest.document(rest.documents() - 1).end, rest.size());
}

TEST(Packing, ContextsTileTheRow) {
    const auto contexts = causal_contexts(1000, {.length = 64, .shift = 10, .keep_rest = true});
    std::int64_t next = 10;
    for (const PackedText& c : contexts) {
        EXPECT_EQ(c.first.begin, next);
        next = c.first.end;
    }
    EXPECT_EQ(next, 999);  // the last token is a target only
    EXPECT_EQ(causal_contexts(1000, {.length = 64}).size(), 15u);
    EXPECT_EQ(causal_contexts(20, {.length = 64}).size(), 1u);  // short texts are not lost
    EXPECT_EQ(causal_contexts(1, {.length = 64}).size(), 0u);
    std::vector<bool> seen(64);
    for (int epoch = 0; epoch < 2000; ++epoch)
        seen[static_cast<std::size_t>(context_shift(64, 5, epoch))] = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 64);
}

TEST(Packing, BlocksHoldWholeSentencesAndLoseNone) {
    const TokenDocuments t = made(many(40, 3), {.max_sentence = 30, .joint = 1});
    std::int64_t s = 0;
    for (const PackedText& b : sentence_blocks(t, 30)) {
        EXPECT_LE(b.first.size(), 30);
        EXPECT_EQ(b.first.begin, t.sentence(s).begin);
        while (s < t.sentences() && t.sentence(s).begin < b.first.end) ++s;
        // no further sentence would have fitted
        EXPECT_TRUE(s == t.sentences() || t.sentence(s).end - b.first.begin > 30);
    }
    EXPECT_EQ(s, t.sentences());
}

TEST(Packing, HalfOfThePairsFollowEachOther) {
    const TokenDocuments t = made(many(400, 4), {.max_sentence = 20});
    std::int64_t follow = 0, pairs = 0;
    for (int epoch = 0; epoch < 4; ++epoch)
        for (const PackedText& p : sentence_pairs(t, {.length = 40, .seed = 3, .epoch = epoch})) {
            ++pairs;
            follow += p.follows;
            EXPECT_GT(p.first.size(), 0);
            EXPECT_GT(p.second.size(), 0);
            EXPECT_LE(p.first.size(), 20);
            EXPECT_LE(p.second.size(), 20);
            const std::int64_t a = t.document_at(p.first.begin), b = t.document_at(p.second.begin);
            if (p.follows)
                EXPECT_EQ(p.first.end, p.second.begin);
            else
                EXPECT_NE(a, b);
            EXPECT_EQ(t.document_at(p.first.end - 1), a);
            EXPECT_EQ(t.document_at(p.second.end - 1), b);
        }
    ASSERT_GT(pairs, 2500);
    EXPECT_NEAR(static_cast<double>(follow) / static_cast<double>(pairs), 0.5, 0.03);
}

TEST(Packing, PairsAreAFunctionOfSeedEpochAndDocument) {
    const auto lengths = many(60, 5);
    const TokenDocuments t = made(lengths, {.max_sentence = 20});
    const auto one = sentence_pairs(t, {.length = 40, .seed = 3, .epoch = 1});
    EXPECT_EQ(one, sentence_pairs(t, {.length = 40, .seed = 3, .epoch = 1}));
    EXPECT_NE(one, sentence_pairs(t, {.length = 40, .seed = 4, .epoch = 1}));
    EXPECT_NE(one, sentence_pairs(t, {.length = 40, .seed = 3, .epoch = 2}));
    EXPECT_THROW(sentence_pairs(made({{4, 5}}), {}), Error);
    // A document of one sentence has no pair, and a short one is cut in two.
    const TokenDocuments small = made({{4}, {5, 6}});
    const auto pairs = sentence_pairs(small, {.length = 40});
    ASSERT_EQ(pairs.size(), 1u);
    EXPECT_EQ(pairs[0].first, (TokenRange{4, 9}));
}

}  // namespace
}  // namespace fovea
