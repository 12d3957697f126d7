#include "fovea/text/models/unigram.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"
#include "fovea/text/test_specs.h"

namespace fovea::text {
namespace {

std::vector<std::string> pieces(const Unigram& u, const std::string& word) {
    WordTokens out;
    UnigramScratch scratch;
    u.encode(word, out, scratch);
    std::vector<std::string> result;
    std::size_t at = 0;
    for (std::size_t i = 0; i < out.ids.size(); ++i) {
        if (out.plain()) {
            const std::size_t n = u.length(out.ids[i], false, false, 0);
            result.push_back(word.substr(at, n));
            at += n;
        } else {
            result.push_back(
                word.substr(out.ranges[i].begin, out.ranges[i].end - out.ranges[i].begin));
        }
    }
    return result;
}

TEST(Unigram, FindsTheBestSum) {
    const TokenizerSpec spec = tiny_unigram();
    const Unigram u(std::get<UnigramSpec>(spec.model));
    using Pieces = std::vector<std::string>;
    EXPECT_EQ(pieces(u, "▁ab"), (Pieces{"▁ab"}));
    EXPECT_EQ(pieces(u, "▁abc"), (Pieces{"▁ab", "c"}));  // -5.5 beats ▁ + abc at -7
    EXPECT_EQ(pieces(u, "abc"), (Pieces{"abc"}));
    EXPECT_EQ(pieces(u, "xyab"), (Pieces{"xy", "ab"}));  // unknown characters become one piece
}

// The best score over all segmentations, by trying each.
double best_score(const UnigramSpec& spec, std::string_view word) {
    if (word.empty()) return 0;
    double best = -std::numeric_limits<double>::infinity();
    for (const UnigramPiece& p : spec.vocab)
        if (!p.piece.empty() && word.starts_with(p.piece))
            best = std::max(best, p.score + best_score(spec, word.substr(p.piece.size())));
    return best;
}

TEST(Unigram, NoSegmentationIsBetter) {
    Rng rng(31);
    for (int n = 0; n < 100; ++n) {
        UnigramSpec spec;
        spec.vocab.push_back({"<unk>", 0});
        spec.unk_id = 0;
        for (const char* c : {"a", "b", "c"}) spec.vocab.push_back({c, -1 - 5 * rng.uniform()});
        for (int i = 0; i < 12; ++i) {
            std::string s;
            for (std::int64_t k = 2 + rng.below(3); k > 0; --k)
                s += static_cast<char>('a' + rng.below(3));
            spec.vocab.push_back({s, -1 - 9 * rng.uniform()});
        }
        const Unigram u(spec);
        for (int i = 0; i < 10; ++i) {
            std::string word;
            for (std::int64_t k = 1 + rng.below(9); k > 0; --k)
                word += static_cast<char>('a' + rng.below(3));
            WordTokens out;
            UnigramScratch scratch;
            u.encode(word, out, scratch);
            double score = 0;
            for (const TokenId id : out.ids)
                score += spec.vocab[static_cast<std::size_t>(id)].score;
            // of a piece given twice the last score counts, which the search over all may not take
            EXPECT_NEAR(std::min(score, best_score(spec, word)), score, 1e-9) << word;
        }
    }
}

TEST(Unigram, ByteFallbackGivesEveryByteTheWholeRange) {
    UnigramSpec spec;
    spec.vocab = {{"<unk>", 0}, {"a", -1}};
    for (int b = 0; b < 256; ++b) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(b));
        spec.vocab.push_back({name, 0});
    }
    spec.unk_id = 0;
    spec.byte_fallback = true;
    const Unigram u(spec);
    WordTokens out;
    UnigramScratch scratch;
    u.encode("aé", out, scratch);
    EXPECT_EQ(out.ids, (std::vector<TokenId>{1, 2 + 0xC3, 2 + 0xA9}));
    EXPECT_EQ(out.ranges[1], (ByteRange{1, 3}));
    EXPECT_EQ(out.ranges[2], (ByteRange{1, 3}));
}

TEST(Unigram, WithoutUnkUnknownTextIsAnError) {
    UnigramSpec spec;
    spec.vocab = {{"a", -1}};
    const Unigram u(spec);
    WordTokens out;
    UnigramScratch scratch;
    u.encode("aa", out, scratch);
    EXPECT_EQ(out.ids.size(), 2u);
    EXPECT_THROW(u.encode("ab", out, scratch), Error);
    spec.unk_id = 7;
    EXPECT_THROW(Unigram{spec}, Error);
}

}  // namespace
}  // namespace fovea::text
