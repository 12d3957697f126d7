#include "fovea/text/spm/sentencepiece_charsmap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/rng.h"
#include "fovea/text/spm/sentencepiece_model.h"

namespace fovea {
namespace {

TEST(SentencePieceCharsmap, FindsLongestAndShortest) {
    const SentencePieceCharsmap map(build_charsmap({{"a", "1"}, {"abc", "3"}, {"b", ""}}), "m");
    EXPECT_EQ(map.longest("abcd").length, 3u);
    EXPECT_EQ(map.longest("abcd").replacement, "3");
    EXPECT_EQ(map.shortest("abcd").length, 1u);
    EXPECT_EQ(map.shortest("abcd").replacement, "1");
    EXPECT_EQ(map.longest("abd").length, 1u);
    EXPECT_EQ(map.longest("b").length, 1u);
    EXPECT_EQ(map.longest("b").replacement, "");
    EXPECT_EQ(map.longest("c").length, 0u);
    EXPECT_EQ(map.longest("").length, 0u);
    EXPECT_EQ(SentencePieceCharsmap().longest("a").length, 0u);
}

TEST(SentencePieceCharsmap, BuiltMapsHoldExactlyTheirEntries) {
    Rng rng(5);
    std::map<std::string, std::string> entries;
    while (entries.size() < 6000) {
        std::string key, value;
        for (std::int64_t n = rng.below(4) + 1; n > 0; --n)
            key += static_cast<char>(rng.below(255) + 1);
        for (std::int64_t n = rng.below(3); n > 0; --n)
            value += static_cast<char>(rng.below(255) + 1);
        entries[key] = value;
    }
    const SentencePieceCharsmap map(build_charsmap({entries.begin(), entries.end()}), "m");
    for (const auto& [key, value] : entries) {
        EXPECT_EQ(map.longest(key).length, key.size());
        EXPECT_EQ(map.longest(key).replacement, value);
    }
    for (int i = 0; i < 20000; ++i) {  // against a search by hand
        std::string text;
        for (int k = 0; k < 5; ++k) text += static_cast<char>(rng.below(255) + 1);
        std::size_t longest = 0, shortest = 0;
        for (std::size_t n = 5; n > 0; --n) {
            if (!entries.count(text.substr(0, n))) continue;
            longest = std::max(longest, n);
            shortest = n;
        }
        EXPECT_EQ(map.longest(text).length, longest);
        EXPECT_EQ(map.shortest(text).length, shortest);
    }
}

TEST(SentencePieceCharsmap, RefusesWhatPointsOutside) {
    const std::string good = build_charsmap({{"a", "x"}, {"bc", "y"}});
    const auto refused = [&](const std::string& blob) {
        try {
            SentencePieceCharsmap(blob, "f.model");
        } catch (const Error& e) {
            EXPECT_EQ(std::string(e.what()).rfind("f.model: charsmap: ", 0), 0u);
            return true;
        }
        return false;
    };
    EXPECT_FALSE(refused(good));
    EXPECT_TRUE(refused(good.substr(0, 3)));
    EXPECT_TRUE(refused(good.substr(0, 100)));
    EXPECT_TRUE(refused(good.substr(0, good.size() - 1)));  // no final NUL
    EXPECT_TRUE(refused(std::string(8, '\0')));             // a trie of no units
    std::string far = good;                                 // every leaf's value past the end
    for (std::size_t i = 4; i + 4 <= good.size() - 4; i += 4)
        if (far[i + 3] & '\x80') far[i + 2] = '\x7F';
    EXPECT_TRUE(refused(far));
    Rng rng(9);
    for (int round = 0; round < 20000; ++round) {
        std::string b = good;
        for (int k = 0; k < 8; ++k)
            b[4 + static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(b.size() - 4)))] =
                static_cast<char>(rng.below(256));
        try {
            const SentencePieceCharsmap map(b, "f");
            map.longest("abcdef");
            map.longest("bcbc");
        } catch (const Error&) {
        }
    }
}

TEST(SentencePieceCharsmap, ReadsARealMap) {
    const std::string path =
        std::string(FOVEA_SOURCE_DIR) + "/../shared/tokenizers/albert-base-v2/spiece.model";
    if (!file_exists(path)) GTEST_SKIP() << "no ../shared/tokenizers here";
    const SentencePieceCharsmap map(read_sentencepiece(path).normalizer.precompiled_charsmap, path);
    EXPECT_EQ(map.longest("\xEF\xBC\xA1").replacement, "A");    // full-width A
    EXPECT_EQ(map.longest("\xEF\xAC\x81x").replacement, "fi");  // the ligature
    EXPECT_EQ(map.longest("\xEF\xAC\x81x").length, 3u);
    EXPECT_EQ(map.longest("a").length, 0u);
}

}  // namespace
}  // namespace fovea
