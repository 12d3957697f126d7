// The formulas against sacreBLEU's on its own resamples, and the properties of our draws.
#include "fovea/metrics/resampling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/metrics/corpus_score.h"

namespace fovea {
namespace {

std::string words_text(Rng& rng, std::int64_t words) {
    std::string text;
    for (std::int64_t i = 0; i < words; ++i)
        text += (i > 0 ? " w" : "w") + std::to_string(rng.below(12));
    return text;
}

// References, and hypotheses in which each word is wrong with the given chance.
struct MadeCorpus {
    std::vector<std::string> hypotheses;
    std::vector<References> references;
};
MadeCorpus made_corpus(std::size_t lines, double wrong, std::uint64_t seed) {
    Rng texts(7), errors(seed, 1);
    MadeCorpus c;
    for (std::size_t i = 0; i < lines; ++i) {
        std::string line = words_text(texts, 4 + texts.below(9));
        c.references.push_back({line});
        for (std::size_t at = 0; at < line.size(); ++at)
            if (line[at] == 'w' && errors.uniform() < wrong) line[at] = 'v';
        c.hypotheses.push_back(line);
    }
    return c;
}

std::vector<CorpusScore> measured(const MadeCorpus& c) {
    std::vector<CorpusScore> all = measure_rouge(c.hypotheses, c.references);
    all.push_back(measure_bleu(c.hypotheses, c.references));
    all.push_back(measure_chrf(c.hypotheses, c.references, {.word_order = 2}));
    all.push_back(measure_exact_match(c.hypotheses, c.references));
    return all;
}

TEST(Resampling, ScoresOfResamplesAreScoresOfTheRepeatedTexts) {
    const MadeCorpus c = made_corpus(37, 0.2, 1);
    const auto all = measured(c);
    std::vector<std::vector<double>> scores;
    for (const CorpusScore& m : all) scores.push_back(bootstrap_scores(m.sums, {.resamples = 11}));
    for (std::int64_t r = 0; r < 11; ++r) {
        std::vector<std::int64_t> drawn(37);
        draw_resample(12345, r, drawn);
        MadeCorpus resample;
        for (const std::int64_t i : drawn) {
            ASSERT_TRUE(i >= 0 && i < 37);
            resample.hypotheses.push_back(c.hypotheses[static_cast<std::size_t>(i)]);
            resample.references.push_back(c.references[static_cast<std::size_t>(i)]);
        }
        const auto naive = measured(resample);
        for (std::size_t m = 0; m < all.size(); ++m)
            EXPECT_EQ(scores[m][static_cast<std::size_t>(r)], naive[m].score.value) << all[m].key;
    }
}

TEST(Resampling, DifferencesOfTrialsAreThoseOfTheExchangedTexts) {
    const MadeCorpus a = made_corpus(70, 0.2, 1), b = made_corpus(70, 0.3, 2);
    const auto first = measured(a), second = measured(b);
    for (std::int64_t t = 0; t < 5; ++t) {
        const auto coins = draw_exchanges(3, t, 70);
        MadeCorpus x = a, y = b;
        for (std::size_t i = 0; i < 70; ++i)
            if (coins[i / 64] >> i % 64 & 1) std::swap(x.hypotheses[i], y.hypotheses[i]);
        const auto naive_x = measured(x), naive_y = measured(y);
        for (std::size_t m = 0; m < first.size(); ++m) {
            const auto found =
                exchanged_differences(first[m].sums, second[m].sums, {.trials = 5, .seed = 3});
            const double wanted = std::abs(naive_x[m].score.value - naive_y[m].score.value);
            const bool whole_counts = first[m].sums.width > 1;  // sums of shares are rounded
            EXPECT_NEAR(found[static_cast<std::size_t>(t)], wanted, whole_counts ? 0 : 1e-10)
                << first[m].key;
        }
    }
}

TEST(Resampling, DrawsAreEvenAndDifferBetweenResamplesAndSeeds) {
    std::vector<std::int64_t> a(200), b(200), c(200), seen(200);
    draw_resample(1, 0, a);
    draw_resample(1, 1, b);
    draw_resample(2, 0, c);
    EXPECT_NE(a, b);
    EXPECT_NE(a, c);
    for (std::int64_t r = 0; r < 1000; ++r) {
        draw_resample(5, r, a);
        for (const std::int64_t i : a) ++seen[static_cast<std::size_t>(i)];
    }
    for (const std::int64_t n : seen) EXPECT_NEAR(static_cast<double>(n), 1000, 170);  // 5 sigma
    std::vector<std::int64_t> heads(130);
    for (std::int64_t t = 0; t < 1000; ++t) {
        const auto coins = draw_exchanges(5, t, 130);
        for (std::size_t i = 0; i < heads.size(); ++i) heads[i] += coins[i / 64] >> i % 64 & 1;
    }
    for (const std::int64_t n : heads) EXPECT_NEAR(static_cast<double>(n), 500, 80);
}

TEST(Resampling, SameBitsForAnyNumberOfThreads) {
    const auto a = measured(made_corpus(300, 0.2, 1)), b = measured(made_corpus(300, 0.22, 2));
    std::vector<std::vector<double>> results;
    for (const int threads : {1, 3}) {
        set_thread_count(threads);
        std::vector<double> found;
        for (std::size_t m = 0; m < a.size(); ++m) {
            for (const double s : bootstrap_scores(a[m].sums)) found.push_back(s);
            found.push_back(paired_bootstrap(a[m].sums, b[m].sums).p_value);
            found.push_back(paired_randomization(a[m].sums, b[m].sums, {.trials = 500}).p_value);
        }
        results.push_back(found);
    }
    set_thread_count(0);
    EXPECT_EQ(results[0], results[1]);
}

TEST(Resampling, ASystemDoesNotDifferFromItself) {
    for (const CorpusScore& m : measured(made_corpus(40, 0.2, 1))) {
        EXPECT_EQ(paired_bootstrap(m.sums, m.sums, {.resamples = 200}).p_value, 1) << m.key;
        EXPECT_EQ(paired_randomization(m.sums, m.sums, {.trials = 200}).p_value, 1) << m.key;
    }
}

TEST(Resampling, AClearlyBetterSystemIsFound) {
    const auto good = measured(made_corpus(200, 0.1, 1)), bad = measured(made_corpus(200, 0.3, 2));
    for (std::size_t m = 0; m < good.size(); ++m) {
        const PairedResult b = paired_bootstrap(bad[m].sums, good[m].sums);
        EXPECT_LT(b.p_value, 0.01) << good[m].key;
        EXPECT_EQ(b.baseline, bad[m].score.value);
        EXPECT_EQ(b.system, good[m].score.value);
        EXPECT_LT(paired_randomization(bad[m].sums, good[m].sums, {.trials = 1000}).p_value, 0.01);
    }
}

// Systems of equal quality: a p-value below x must come about as often as x says.
TEST(Resampling, ChanceIsCalledSignificantAsOftenAsPromised) {
    constexpr int pairs = 200;
    int randomization = 0, bootstrap = 0;
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
        const MadeCorpus a = made_corpus(40, 0.2, 10 + 2 * pair),
                         b = made_corpus(40, 0.2, 11 + 2 * pair);
        const SegmentSums x = measure_bleu(a.hypotheses, a.references).sums,
                          y = measure_bleu(b.hypotheses, b.references).sums;
        randomization += paired_randomization(x, y, {.trials = 199}).p_value <= 0.1;
        bootstrap += paired_bootstrap(x, y, {.resamples = 199}).p_value <= 0.1;
    }
    EXPECT_NEAR(randomization, 0.1 * pairs, 4 * std::sqrt(0.1 * 0.9 * pairs));  // 26
    EXPECT_GT(bootstrap, randomization);  // 57: the header warns of it
}

// One line of many that differs is no evidence: any exchange gives the same difference.
TEST(Resampling, OneDifferentLineIsNoEvidence) {
    const MadeCorpus a = made_corpus(50, 0.2, 1);
    MadeCorpus b = a;
    b.hypotheses[7] = "wrong";
    const auto first = measured(a), second = measured(b);
    for (std::size_t m = 0; m < first.size(); ++m)
        EXPECT_EQ(paired_randomization(first[m].sums, second[m].sums, {.trials = 300}).p_value, 1)
            << first[m].key;
}

// The mean's standard error is known: 95 % of resamples lie within 1.96 of it.
TEST(Resampling, IntervalOfAMeanIsTheTextbooks) {
    MadeCorpus c;
    for (int i = 0; i < 400; ++i) {
        c.references.push_back({"x"});
        c.hypotheses.push_back(i % 4 == 0 ? "y" : "x");
    }
    const CorpusScore m = measure_exact_match(c.hypotheses, c.references);
    const Interval i = confidence_interval(bootstrap_scores(m.sums, {.resamples = 4000}));
    const double error = 100 * std::sqrt(0.75 * 0.25 / 400);
    EXPECT_NEAR(i.mean, 75, 4 * error / std::sqrt(4000.0));
    EXPECT_NEAR(i.half_width, 1.96 * error, 0.1 * error);
}

TEST(Resampling, RefusesWhatCannotBeCompared) {
    const auto a = measured(made_corpus(5, 0.2, 1)), b = measured(made_corpus(6, 0.2, 1));
    EXPECT_THROW(paired_bootstrap(a[0].sums, b[0].sums), Error);
    EXPECT_THROW(paired_randomization(a[0].sums, a[4].sums), Error);
    EXPECT_THROW(bootstrap_scores(a[0].sums, {.resamples = 0}), Error);
    EXPECT_THROW(bootstrap_scores({}), Error);
    EXPECT_THROW(confidence_interval({}), Error);
}

}  // namespace
}  // namespace fovea
