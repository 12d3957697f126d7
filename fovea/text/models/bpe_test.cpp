#include "fovea/text/models/bpe.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/text/test_specs.h"

namespace fovea::text {
namespace {

// Merges one pair at a time by looking at all of them: the definition.
std::vector<TokenId> slow(const BpeSpec& spec, std::string_view word) {
    std::vector<TokenId> ids;
    for (std::size_t i = 0; i < word.size();) {
        const auto n = static_cast<std::size_t>(utf8_size(word[i]));
        ids.push_back(spec.vocab.find(word.substr(i, n)));
        i += n;
    }
    while (true) {
        std::size_t best_rank = spec.merges.size(), best_at = 0;
        for (std::size_t i = 0; i + 1 < ids.size(); ++i)
            for (std::size_t r = 0; r < best_rank; ++r)
                if (spec.merges[r].left == ids[i] && spec.merges[r].right == ids[i + 1]) {
                    best_rank = r;
                    best_at = i;
                }
        if (best_rank == spec.merges.size()) return ids;
        ids[best_at] = spec.merges[best_rank].merged;
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best_at) + 1);
    }
}

std::vector<TokenId> encode(const Bpe& bpe, std::string_view word) {
    WordTokens out;
    BpeScratch scratch;
    bpe.encode(word, out, scratch);
    return out.ids;
}

BpeSpec random_spec(Rng& rng) {
    std::vector<std::string> tokens = {"a", "b", "c", "é"};
    std::vector<std::pair<std::string, std::string>> merges;
    for (int i = 0; i < 30; ++i) {
        const std::string left =
            tokens[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(tokens.size())))];
        const std::string right =
            tokens[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(tokens.size())))];
        bool there = false;
        for (const auto& m : merges) there |= m.first == left && m.second == right;
        if (there) continue;
        merges.push_back({left, right});
        tokens.push_back(left + right);
    }
    return bpe_of({"a", "b", "c", "é"}, merges);
}

std::string random_word(Rng& rng, std::int64_t longest) {
    static const char* letters[] = {"a", "b", "c", "é"};
    std::string s;
    for (std::int64_t i = 1 + rng.below(longest); i > 0; --i) s += letters[rng.below(4)];
    return s;
}

TEST(Bpe, AgreesWithItsDefinition) {
    Rng rng(21);
    for (int n = 0; n < 60; ++n) {
        const BpeSpec spec = random_spec(rng);
        const Bpe bpe(spec, false);
        for (int k = 0; k < 30; ++k) {  // short words by ranks, long ones by a heap
            const std::string word = random_word(rng, k % 2 ? 20 : 150);
            ASSERT_EQ(encode(bpe, word), slow(spec, word)) << word;
        }
    }
}

TEST(Bpe, PartsGiveTheSame) {
    Rng rng(22);
    for (int n = 0; n < 60; ++n) {
        const BpeSpec spec = random_spec(rng);
        const Bpe bpe(spec, false);
        ASSERT_TRUE(bpe.has_parts());
        for (int k = 0; k < 20; ++k) {
            const std::string text = random_word(rng, 120);
            std::vector<TokenId> ids;
            for (std::size_t begin = 0; begin < text.size();) {
                const std::size_t end = bpe.part_end(text, begin);
                ASSERT_GT(end, begin);
                const auto part = encode(bpe, std::string_view(text).substr(begin, end - begin));
                ids.insert(ids.end(), part.begin(), part.end());
                begin = end;
            }
            ASSERT_EQ(ids, encode(bpe, text)) << text;
        }
    }
}

TEST(Bpe, BytesWithoutSpellingGiveTheSame) {
    const TokenizerSpec gpt2 = tiny_gpt2();
    const BpeSpec& spec = std::get<BpeSpec>(gpt2.model);
    ASSERT_TRUE(Bpe::can_take_bytes(spec));
    const Bpe raw(spec, true), spelled(spec, false);
    for (const std::string word : {" the", "hello", "é", "low", " thelow wé\xFF\x01"})
        EXPECT_EQ(encode(raw, word), encode(spelled, spell_bytes(word))) << word;
}

TEST(Bpe, UnknownCharacters) {
    BpeSpec spec = bpe_of({"<unk>", "a", "b"}, {{"a", "b"}});
    {
        const Bpe bpe(spec, false);  // no unk_token: lost, and the neighbours meet
        EXPECT_EQ(encode(bpe, "axb"), (std::vector<TokenId>{3}));
    }
    spec.unk_token = "<unk>";
    {
        const Bpe bpe(spec, false);
        EXPECT_EQ(encode(bpe, "axyb"), (std::vector<TokenId>{1, 0, 0, 2}));
    }
    spec.fuse_unk = true;
    {
        const Bpe bpe(spec, false);
        WordTokens out;
        BpeScratch scratch;
        bpe.encode("axéb", out, scratch);
        EXPECT_EQ(out.ids, (std::vector<TokenId>{1, 0, 2}));
        ASSERT_FALSE(out.plain());
        EXPECT_EQ(out.ranges[1], (ByteRange{1, 4}));
    }
    spec.unk_token = "missing";
    EXPECT_THROW(Bpe(spec, false), Error);
}

TEST(Bpe, ByteFallback) {
    std::vector<std::string> alphabet = {"<unk>", "a"};
    for (int b = 0; b < 256; ++b) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(b));
        alphabet.push_back(name);
    }
    BpeSpec spec = bpe_of(alphabet, {});
    spec.byte_fallback = true;
    spec.unk_token = "<unk>";
    const Bpe bpe(spec, false);
    EXPECT_EQ(encode(bpe, "aé"), (std::vector<TokenId>{1, 2 + 0xC3, 2 + 0xA9}));
}

TEST(Bpe, PrefixAndSuffix) {
    BpeSpec spec;
    for (const char* t : {"a", "##a", "##b</w>", "a##a", "aa", "aab</w>", "b</w>"})
        spec.vocab.add(t, static_cast<TokenId>(spec.vocab.size()));
    spec.continuing_subword_prefix = "##";
    spec.end_of_word_suffix = "</w>";
    spec.merges = {{0, 1, 4}, {4, 2, 5}};  // a ##a -> aa, aa ##b</w> -> aab</w>
    const Bpe bpe(spec, false);
    EXPECT_EQ(encode(bpe, "aab"), (std::vector<TokenId>{5}));
    EXPECT_EQ(encode(bpe, "b"), (std::vector<TokenId>{6}));
    EXPECT_EQ(bpe.length(5, true, true, 3), 3u);
}

TEST(Bpe, IgnoreMergesTakesWholeWords) {
    BpeSpec spec = bpe_of(byte_alphabet(), {});
    spec.vocab.add("abc", 256);  // no merge leads to it
    const Bpe plain(spec, true);
    EXPECT_EQ(encode(plain, "abc").size(), 3u);
    spec.ignore_merges = true;
    const Bpe ignoring(spec, true);
    EXPECT_EQ(encode(ignoring, "abc"), (std::vector<TokenId>{256}));
    EXPECT_EQ(encode(ignoring, "abcd").size(), 4u);
}

TEST(Bpe, DropoutDrawsFromItsGenerator) {
    BpeSpec spec = bpe_of({"a"}, {{"a", "a"}, {"aa", "aa"}});
    spec.dropout = 1.0f;
    const Bpe all(spec, false);
    Rng rng(1);
    WordTokens out;
    BpeScratch scratch;
    all.encode("aaaa", out, scratch, &rng);
    EXPECT_EQ(out.ids.size(), 4u);  // every merge is dropped
    all.encode("aaaa", out, scratch);
    EXPECT_EQ(out.ids.size(), 1u);  // none without a generator
    BpeSpec half = spec;
    half.dropout = 0.5f;
    const Bpe some(half, false);
    Rng r1(5), r2(5);
    std::size_t lengths = 0;
    for (int i = 0; i < 200; ++i) {
        WordTokens x, y;
        some.encode("aaaaaaaa", x, scratch, &r1);
        some.encode("aaaaaaaa", y, scratch, &r2);
        ASSERT_EQ(x.ids, y.ids);  // the same seed, the same pieces
        lengths += x.ids.size();
    }
    EXPECT_GT(lengths, 2u * 200);
    EXPECT_LT(lengths, 8u * 200);
}

// Found by fuzzing: a table by id of 7.5 GB for three tokens.
TEST(Bpe, IdsFarBeyondTheNumberOfTokensAreRefused) {
    BpeSpec spec;
    spec.vocab.add("a", 0);
    spec.vocab.add("b", 1 << 20);  // holes are fine
    EXPECT_NO_THROW(Bpe(spec, false));
    spec.vocab.add("c", 1888888888);
    EXPECT_THROW(Bpe(spec, false), Error);
}

}  // namespace
}  // namespace fovea::text
