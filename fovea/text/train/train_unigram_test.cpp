#include "fovea/text/train/train_unigram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/text/train/train_unigram_lattice.h"
#include "fovea/text/train/train_unigram_text.h"

namespace fovea {
namespace {

std::map<std::string, int> random_words(Rng& rng, int n, int letters, int longest) {
    std::map<std::string, int> words;
    for (int i = 0; i < n; ++i) {
        std::string w;
        for (std::int64_t k = rng.below(longest) + 1; k > 0; --k)
            w += static_cast<char>('a' + rng.below(letters));
        words[w] += static_cast<int>(rng.below(5) + 1);
    }
    return words;
}

WordCounts counts_of(const std::map<std::string, int>& words) {
    WordCounts counts;
    for (const auto& [w, n] : words) counts.add(w, n);
    return counts;
}

std::vector<std::uint32_t> letters(int n) {
    std::vector<std::uint32_t> a;
    for (int i = 0; i < n; ++i) a.push_back(static_cast<std::uint32_t>('a' + i));
    return a;
}

TEST(UnigramSeeds, AreTheSubstringsThatCannotGrowToTheRight) {
    Rng rng(1);
    constexpr std::size_t longest = 5;
    for (int round = 0; round < 40; ++round) {
        const auto words = random_words(rng, 30, 3, 9);
        const UnigramText text(counts_of(words), letters(3));
        std::map<std::string, double> expected;  // by counting every substring
        std::map<std::string, int> occurrences;
        for (const auto& [w, n] : words)
            for (std::size_t b = 0; b < w.size(); ++b)
                for (std::size_t l = 1; l <= longest && b + l <= w.size(); ++l)
                    occurrences[w.substr(b, l)] += n;
        for (const auto& [s, n] : occurrences) {
            if (s.size() < 2 || n < 2) continue;
            bool grows = false;  // into a longer one with the same occurrences
            if (s.size() < longest)
                for (char c = 'a'; c < 'd'; ++c) {
                    const auto longer = occurrences.find(s + c);
                    grows = grows || (longer != occurrences.end() && longer->second == n);
                }
            if (!grows) expected[s] = static_cast<double>(n) * static_cast<double>(s.size());
        }
        std::map<std::string, double> found;
        double previous = 1e300;
        for (const SeedPiece& p : find_seeds(text, longest, 1000000)) {
            EXPECT_LE(p.weight, previous);
            previous = p.weight;
            const std::string s = text.spelled({text.symbols.data() + p.at, p.length});
            EXPECT_TRUE(found.emplace(s, p.weight).second) << s;
        }
        EXPECT_EQ(found, expected);
    }
}

TEST(UnigramLattice, ExpectedCountsEqualTheSumOverAllCuts) {
    WordCounts counts;
    counts.add("abab");
    const UnigramText text(counts, letters(2));
    const std::vector<std::vector<Symbol>> pieces = {{1}, {1, 2}, {1, 2, 1}, {2}, {2, 1}};
    const std::vector<double> p = {0.3, 0.2, 0.1, 0.25, 0.15};
    std::vector<double> scores;
    for (const double q : p) scores.push_back(std::log(q));
    const PieceTrie trie(std::vector<std::span<const Symbol>>(pieces.begin(), pieces.end()));
    // All cuts of abab: a|b|a|b ab|a|b a|ba|b a|b|ab ab|ab aba|b
    const double z =
        .3 * .25 * .3 * .25 + 2 * (.2 * .3 * .25) + .3 * .15 * .25 + .2 * .2 + .1 * .25;
    const double a = 2 * .3 * .25 * .3 * .25 + 2 * (.2 * .3 * .25) + .3 * .15 * .25;
    const double ab = 2 * (.2 * .3 * .25) + 2 * .2 * .2;
    std::vector<double> expected(pieces.size(), 0.0);
    WordLattice lattice(trie, scores);
    EXPECT_NEAR(lattice.expect_pieces(text.word(0), 3, expected), std::log(z), 1e-12);
    EXPECT_NEAR(expected[0], 3 * a / z, 1e-12);
    EXPECT_NEAR(expected[1], 3 * ab / z, 1e-12);
    EXPECT_NEAR(expected[2], 3 * .1 * .25 / z, 1e-12);
    std::vector<std::uint32_t> cut;
    EXPECT_NEAR(lattice.best_cut(text.word(0), PieceTrie::none, cut), std::log(.04), 1e-12);
    EXPECT_EQ(cut, (std::vector<std::uint32_t>{1, 1}));
    EXPECT_NEAR(lattice.best_cut(text.word(0), 1, cut), std::log(.1 * .25), 1e-12);
    EXPECT_EQ(cut, (std::vector<std::uint32_t>{3, 2}));
}

TEST(TrainUnigram, LearnsThePartsThatWordsAreMadeOf) {
    const std::vector<std::string> stems = {"walk", "jump", "paint", "climb", "bark", "fold"};
    const std::vector<std::string> ends = {"", "ing", "ed", "er", "s"};
    WordCounts words;
    for (const std::string& s : stems)
        for (const std::string& e : ends) words.add(s + e, 100);
    const auto pieces = train_unigram(words, {.pieces = 26});
    std::set<std::string> text;
    double sum = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        text.insert(pieces[i].piece);
        sum += std::exp(pieces[i].score);
        EXPECT_TRUE(std::isfinite(pieces[i].score));
        EXPECT_GE(pieces[i == 0 ? 0 : i - 1].score, pieces[i].score);
    }
    EXPECT_EQ(text.size(), pieces.size());
    EXPECT_LE(pieces.size(), 26u);
    EXPECT_LT(sum, 1.05);
    for (const std::string& s : stems) EXPECT_TRUE(text.count(s)) << s;
    for (const char c : std::string("walkjumpintclbrfoedgs")) EXPECT_TRUE(text.count({c})) << c;
}

TEST(TrainUnigram, SameBitsWhateverTheThreads) {
    Rng rng(7);
    const WordCounts words = counts_of(random_words(rng, 3000, 6, 14));
    set_thread_count(1);
    const auto one = train_unigram(words, {.pieces = 200});
    set_thread_count(3);
    const auto three = train_unigram(words, {.pieces = 200});
    set_thread_count(0);
    EXPECT_EQ(one, three);
    EXPECT_EQ(one.size(), 200u);
}

TEST(TrainUnigram, CharactersAlwaysHaveAPlace) {
    WordCounts words;
    words.add("aaaa", 1000);
    words.add("z", 1);
    const auto pieces = train_unigram(words, {.pieces = 5, .initial_alphabet = {"é"}});
    std::set<std::string> text;
    for (const auto& p : pieces) text.insert(p.piece);
    EXPECT_TRUE(text.count("a") && text.count("z") && text.count("é"));
    EXPECT_LE(pieces.size(), 5u);
    try {
        train_unigram(words, {.pieces = 1});
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("2 different characters"), std::string::npos);
        EXPECT_FALSE(e.hint().empty());
    }
    EXPECT_TRUE(train_unigram(WordCounts(), {}).empty());
}

TEST(TrainUnigram, VeryLongWordsNeitherOverflowNorUnderflow) {
    WordCounts words;
    std::string w;
    Rng rng(3);
    for (int i = 0; i < 20000; ++i) w += static_cast<char>('a' + rng.below(4));
    words.add(w, 3);
    for (const auto& p : train_unigram(words, {.pieces = 60})) EXPECT_TRUE(std::isfinite(p.score));
}

}  // namespace
}  // namespace fovea
