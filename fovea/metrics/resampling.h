#pragma once
// How sure a score is, and whether one system is better than another: the bootstrap (Koehn 2004,
// "Statistical significance tests for machine translation evaluation") and approximate
// randomization (Riezler and Maxwell 2005), with sacreBLEU's formulas and defaults.
//
// The resamples come from our own generator and are not numpy's: means, widths and p-values agree
// with sacreBLEU's within the noise of resampling, not to the last digit. Resample r is a function
// of (seed, r, number of segments) alone: equal for every system and metric, which makes
// comparisons paired, and for any number of threads.
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <span>
#include <vector>

#include "fovea/metrics/segment_sums.h"

namespace fovea {

struct BootstrapOptions {
    std::int64_t resamples = 1000;
    std::uint64_t seed = 12345;
};
struct RandomizationOptions {
    std::int64_t trials = 10000;
    std::uint64_t seed = 12345;
};

// The segments of one resample, drawn with replacement.
void draw_resample(std::uint64_t seed, std::int64_t resample, std::span<std::int64_t> segments);
// Which of n segments the two systems exchange in one trial: bit i % 64 of word i / 64.
std::vector<std::uint64_t> draw_exchanges(std::uint64_t seed, std::int64_t trial, std::int64_t n);

// The score of every resample.
std::vector<double> bootstrap_scores(const SegmentSums& sums, const BootstrapOptions& options = {});
// The difference of the two scores, without its sign, after the exchanges of every trial.
std::vector<double> exchanged_differences(const SegmentSums& baseline, const SegmentSums& system,
                                          const RandomizationOptions& options = {});

struct Interval {
    double mean = 0;        // of the resamples' scores
    double half_width = 0;  // of the middle 95 % of them
};
Interval confidence_interval(std::vector<double> scores);

struct PairedResult {
    double baseline = 0, system = 0;  // the scores on the whole corpus
    double p_value = 1;  // how often chance alone gives a difference as large; small: a real one
};

// Over the same resamples, how often |difference| less its mean reaches the real difference, as the
// scripts of Moses and sacreBLEU count. It is a one-sided test in effect and finds too much: of 200
// pairs of equally good systems it gave 57 a p-value of at most 0.1, randomization 26.
PairedResult paired_bootstrap(const SegmentSums& baseline, const SegmentSums& system,
                              const BootstrapOptions& options = {});
// How often exchanging the systems' outputs at random gives a difference as large: two-sided.
PairedResult paired_randomization(const SegmentSums& baseline, const SegmentSums& system,
                                  const RandomizationOptions& options = {});

// (c + 1) / (n + 1), where c of the n statistics reach the real difference (Noreen 1989). Equal
// counts as reached, where sacreBLEU wants more: otherwise a system would differ from itself with
// p = 1/(n + 1), and scores with few possible values (exact match) from chance.
double p_value(std::span<const double> statistics, double real_difference);

}  // namespace fovea
