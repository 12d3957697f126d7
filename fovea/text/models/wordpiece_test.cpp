#include "fovea/text/models/wordpiece.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/text/models/word_level.h"
#include "fovea/text/test_specs.h"

namespace fovea::text {
namespace {

std::vector<TokenId> encode(const WordPiece& w, std::string_view word) {
    WordTokens out;
    w.encode(word, out);
    return out.ids;
}

TEST(WordPiece, TakesTheLongestPieceEachTime) {
    const TokenizerSpec spec = tiny_bert();
    const auto& model = std::get<WordPieceSpec>(spec.model);
    const WordPiece w(model);
    const auto id = [&](const char* t) { return model.vocab.find(t); };
    EXPECT_EQ(encode(w, "unwanted"), (std::vector<TokenId>{id("un"), id("##want"), id("##ed")}));
    EXPECT_EQ(encode(w, "the"), (std::vector<TokenId>{id("the")}));
    EXPECT_EQ(encode(w, "thes"), (std::vector<TokenId>{id("the"), id("##s")}));
    EXPECT_EQ(encode(w, "thex"), (std::vector<TokenId>{id("[UNK]")}));  // all of it or nothing
    EXPECT_EQ(w.length(id("##want"), false, false, 8), 4u);
    EXPECT_EQ(w.length(id("[UNK]"), true, true, 8), 8u);
}

TEST(WordPiece, VeryLongWordsAreUnknown) {
    TokenizerSpec spec = tiny_bert();
    auto& model = std::get<WordPieceSpec>(spec.model);
    const std::string hundred = "a" + std::string(99, 'b'), more = hundred + "b";
    const WordPiece w(model);
    EXPECT_EQ(encode(w, hundred).size(), 100u);
    EXPECT_EQ(encode(w, more).size(), 1u);
}

TEST(WordPiece, WithoutUnkUnknownTextIsAnError) {
    WordPieceSpec spec;
    spec.vocab.add("a", 0);
    const WordPiece w(spec);
    EXPECT_EQ(encode(w, "a").size(), 1u);
    EXPECT_THROW(encode(w, "b"), Error);
}

TEST(WordLevel, IsAWordOrUnknown) {
    WordLevelSpec spec;
    spec.vocab.add("<unk>", 0);
    spec.vocab.add("hi", 1);
    const WordLevel w(spec);
    WordTokens out;
    w.encode("hi", out);
    EXPECT_EQ(out.ids, (std::vector<TokenId>{1}));
    w.encode("ho", out);
    EXPECT_EQ(out.ids, (std::vector<TokenId>{0}));
}

}  // namespace
}  // namespace fovea::text
