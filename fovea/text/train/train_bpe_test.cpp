#include "fovea/text/train/train_bpe.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fovea/base/rng.h"

namespace fovea {
namespace {

WordCounts counts_of(const std::vector<std::pair<std::string, int>>& words) {
    WordCounts counts;
    for (const auto& [w, n] : words) counts.add(w, n);
    return counts;
}

std::vector<std::string> merges_of(const TrainedBpe& t) {
    std::vector<std::string> result;
    for (const Merge& m : t.merges)
        result.push_back(t.vocab[static_cast<std::size_t>(m.left)] + " " +
                         t.vocab[static_cast<std::size_t>(m.right)]);
    return result;
}

// The definition, with no cleverness: count all pairs anew before every merge.
std::vector<std::string> slow_merges(const std::vector<std::pair<std::string, int>>& words,
                                     const std::vector<std::string>& alphabet, std::size_t vocab) {
    std::vector<std::string> tokens = alphabet;
    std::map<std::string, int> id;
    for (std::size_t i = 0; i < tokens.size(); ++i) id[tokens[i]] = static_cast<int>(i);
    std::vector<std::vector<int>> runs;
    for (const auto& [w, n] : words) {
        runs.emplace_back();
        for (const char c : w) runs.back().push_back(id[std::string(1, c)]);
    }
    std::vector<std::string> merges;
    while (tokens.size() < vocab) {
        std::map<std::pair<int, int>, int> pairs;
        for (std::size_t w = 0; w < runs.size(); ++w)
            for (std::size_t i = 0; i + 1 < runs[w].size(); ++i)
                pairs[{runs[w][i], runs[w][i + 1]}] += words[w].second;
        std::pair<int, int> best;
        int most = 0;
        for (const auto& [p, n] : pairs)  // in order: the first of equals is the smallest
            if (n > most) most = n, best = p;
        if (most == 0) break;
        const std::string made = tokens[static_cast<std::size_t>(best.first)] +
                                 tokens[static_cast<std::size_t>(best.second)];
        merges.push_back(tokens[static_cast<std::size_t>(best.first)] + " " +
                         tokens[static_cast<std::size_t>(best.second)]);
        if (!id.count(made)) {
            id[made] = static_cast<int>(tokens.size());
            tokens.push_back(made);
        }
        for (auto& run : runs) {
            std::vector<int> joined;
            for (std::size_t i = 0; i < run.size(); ++i) {
                if (i + 1 < run.size() && run[i] == best.first && run[i + 1] == best.second) {
                    joined.push_back(id[made]);
                    ++i;
                } else {
                    joined.push_back(run[i]);
                }
            }
            run = joined;
        }
    }
    return merges;
}

TEST(TrainBpe, MergesTheMostFrequentPairFirst) {
    const WordCounts words = counts_of({{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}});
    const TrainedBpe t = train_bpe(words, {.vocab_size = 10 + 4});
    // e s, es t, then l o and lo w; among pairs of equal count the smaller ids win
    EXPECT_EQ(merges_of(t), (std::vector<std::string>{"e s", "es t", "l o", "lo w"}));
    EXPECT_EQ(t.vocab.back(), "low");
}

TEST(TrainBpe, EqualsTheSlowDefinition) {
    Rng rng(4);
    for (int round = 0; round < 30; ++round) {
        std::map<std::string, int> unique;
        for (int i = 0; i < 60; ++i) {
            std::string w;
            for (std::int64_t n = rng.below(9) + 1; n > 0; --n)
                w += static_cast<char>('a' + rng.below(4));
            unique[w] += static_cast<int>(rng.below(20) + 1);
        }
        const std::vector<std::pair<std::string, int>> words(unique.begin(), unique.end());
        // Few enough merges that no token is made in two ways: from there on `tokenizers` (and we)
        // keep the stale counts of its queue, which the definition does not have.
        const TrainedBpe t = train_bpe(counts_of(words), {.vocab_size = 16});
        EXPECT_EQ(merges_of(t), slow_merges(words, {"a", "b", "c", "d"}, 16)) << round;
    }
}

TEST(TrainBpe, OrderOfWordsDoesNotMatter) {
    const TrainedBpe a =
        train_bpe(counts_of({{"abab", 3}, {"baab", 2}, {"cab", 1}}), {.vocab_size = 12});
    const TrainedBpe b =
        train_bpe(counts_of({{"cab", 1}, {"baab", 2}, {"abab", 3}}), {.vocab_size = 12});
    EXPECT_EQ(a.vocab, b.vocab);
    EXPECT_EQ(a.merges, b.merges);
}

TEST(TrainBpe, MinimumFrequencyStopsEarly) {
    const WordCounts words = counts_of({{"ab", 5}, {"cd", 2}});
    EXPECT_EQ(merges_of(train_bpe(words, {.min_frequency = 3})), std::vector<std::string>{"a b"});
}

TEST(TrainBpe, SpecialTokensComeFirstAndAlphabetFollowsInCodePointOrder) {
    const TrainedBpe t =
        train_bpe(counts_of({{"zäa", 1}}),
                  {.vocab_size = 8, .special_tokens = {"<s>", "z"}, .initial_alphabet = {"q"}});
    EXPECT_EQ((std::vector<std::string>(t.vocab.begin(), t.vocab.begin() + 5)),
              (std::vector<std::string>{"<s>", "z", "a", "q", "ä"}));
}

TEST(TrainBpe, AlphabetLimitDropsTheRarest) {
    const TrainedBpe t =
        train_bpe(counts_of({{"aaab", 5}, {"abbx", 1}}), {.vocab_size = 20, .limit_alphabet = 2});
    const std::set<std::string> vocab(t.vocab.begin(), t.vocab.end());
    EXPECT_TRUE(vocab.count("a") && vocab.count("b"));
    for (const std::string& token : t.vocab) EXPECT_EQ(token.find('x'), std::string::npos);
}

TEST(TrainBpe, PrefixMarksEveryCharacterButTheFirst) {
    const TrainedBpe t = train_bpe(counts_of({{"aba", 3}, {"b", 1}}),
                                   {.vocab_size = 20, .continuing_subword_prefix = "##"});
    EXPECT_EQ(t.vocab, (std::vector<std::string>{"a", "b", "##a", "##b", "ab", "aba"}));
}

TEST(TrainBpe, SuffixMarksTheLastCharacter) {
    const TrainedBpe t =
        train_bpe(counts_of({{"ab", 3}}), {.vocab_size = 20, .end_of_word_suffix = "</w>"});
    EXPECT_EQ(t.vocab, (std::vector<std::string>{"a", "b", "b</w>", "ab</w>"}));
}

TEST(TrainBpe, TokensStayBelowTheirLengthLimit) {
    const TrainedBpe t =
        train_bpe(counts_of({{"abcdefgh", 9}}), {.vocab_size = 100, .max_token_length = 4});
    for (const std::string& token : t.vocab) EXPECT_LT(token.size(), 4u);
}

TEST(TrainBpe, NothingToLearnFrom) {
    EXPECT_TRUE(train_bpe(WordCounts(), {}).vocab.empty());
    EXPECT_EQ(train_bpe(counts_of({{"", 3}, {"a", 1}}), {}).vocab, std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace fovea
