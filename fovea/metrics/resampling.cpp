#include "fovea/metrics/resampling.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"
#include "fovea/base/threads.h"

namespace fovea {
namespace {

constexpr std::uint32_t resample_purpose = 0x626f6f74;  // streams that share a seed stay apart
constexpr std::uint32_t exchange_purpose = 0x73776170;
constexpr std::int64_t work_per_chunk = 1 << 18;  // numbers added; decides the grain, not the sums

void check(const SegmentSums& s, std::int64_t resamples) {
    expect_input(s.segments > 0, "resampling: there is nothing to score");
    expect(static_cast<std::int64_t>(s.rows.size()) == s.segments * s.width && s.score,
           "resampling: ", s.rows.size(), " numbers but ", s.segments, " rows of ", s.width);
    expect(resamples > 0, "resampling: ", resamples, " resamples but must be at least 1");
}

void check_pair(const SegmentSums& a, const SegmentSums& b, std::int64_t resamples) {
    check(a, resamples);
    check(b, resamples);
    expect_input(a.segments == b.segments, "paired test: ", a.segments, " segments but ",
                 b.segments, " of the other system");
    expect(a.width == b.width, "paired test: rows of ", a.width, " and of ", b.width,
           ": these are different metrics");
}

void add_row(std::vector<double>& sum, std::span<const double> row) {
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += row[k];
}

std::int64_t grain_of(const SegmentSums& s) {
    return std::max<std::int64_t>(1, work_per_chunk / (s.segments * (s.width + 2)));
}

// What the baseline's sum gains where it takes the system's output of a segment. Segments that both
// answer alike are left out: there is nothing to exchange.
struct DifferentRow {
    std::size_t segment;
    std::vector<double> gain;
};
std::vector<DifferentRow> different_rows(const SegmentSums& baseline, const SegmentSums& system) {
    std::vector<DifferentRow> rows;
    for (std::int64_t i = 0; i < baseline.segments; ++i) {
        const std::span<const double> a = baseline.row(i), b = system.row(i);
        if (std::equal(a.begin(), a.end(), b.begin())) continue;
        rows.push_back({static_cast<std::size_t>(i), std::vector<double>(b.begin(), b.end())});
        for (std::size_t k = 0; k < a.size(); ++k) rows.back().gain[k] -= a[k];
    }
    return rows;
}

double absolute_difference(const PairedResult& r) { return std::abs(r.baseline - r.system); }

}  // namespace

void draw_resample(std::uint64_t seed, std::int64_t resample, std::span<std::int64_t> segments) {
    Rng rng(seed, resample_purpose);
    const auto n = static_cast<std::int64_t>(segments.size());
    rng.seek(static_cast<std::uint64_t>(resample) * static_cast<std::uint64_t>(n));
    for (std::int64_t& s : segments) s = rng.below(n);
}

std::vector<std::uint64_t> draw_exchanges(std::uint64_t seed, std::int64_t trial, std::int64_t n) {
    std::vector<std::uint64_t> coins(static_cast<std::size_t>((n + 63) / 64));
    Rng rng(seed, exchange_purpose);
    rng.seek(static_cast<std::uint64_t>(trial) * coins.size());
    for (std::uint64_t& word : coins) word = rng.bits();
    return coins;
}

std::vector<double> bootstrap_scores(const SegmentSums& s, const BootstrapOptions& o) {
    check(s, o.resamples);
    std::vector<double> scores(static_cast<std::size_t>(o.resamples));
    parallel_for(o.resamples, grain_of(s), [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> drawn(static_cast<std::size_t>(s.segments));
        for (std::int64_t r = begin; r < end; ++r) {
            draw_resample(o.seed, r, drawn);
            std::vector<double> sum(static_cast<std::size_t>(s.width));
            for (const std::int64_t i : drawn) add_row(sum, s.row(i));
            scores[static_cast<std::size_t>(r)] = s.score(sum);
        }
    });
    return scores;
}

Interval confidence_interval(std::vector<double> scores) {
    expect_input(!scores.empty(), "confidence interval: there are no scores");
    std::sort(scores.begin(), scores.end());
    double sum = 0;
    for (const double s : scores) sum += s;
    const std::size_t cut = scores.size() / 40;  // 2.5 % on either side
    return {sum / static_cast<double>(scores.size()),
            0.5 * (scores[scores.size() - 1 - cut] - scores[cut])};
}

double p_value(std::span<const double> statistics, double real_difference) {
    // Sums of shares are rounded; differences this near are equal.
    constexpr double rounding = 1e-9;
    std::int64_t reached = 0;
    for (const double s : statistics) reached += s >= real_difference - rounding;
    return static_cast<double>(reached + 1) / static_cast<double>(statistics.size() + 1);
}

PairedResult paired_bootstrap(const SegmentSums& baseline, const SegmentSums& system,
                              const BootstrapOptions& options) {
    check_pair(baseline, system, options.resamples);
    PairedResult result{baseline.score(baseline.total()), system.score(system.total()), 1};
    const std::vector<double> theirs = bootstrap_scores(baseline, options);
    std::vector<double> statistics = bootstrap_scores(system, options);
    double mean = 0;
    for (std::size_t r = 0; r < statistics.size(); ++r) {
        statistics[r] = std::abs(statistics[r] - theirs[r]);
        mean += statistics[r];
    }
    mean /= static_cast<double>(statistics.size());
    for (double& s : statistics) s -= mean;
    result.p_value = p_value(statistics, absolute_difference(result));
    return result;
}

std::vector<double> exchanged_differences(const SegmentSums& baseline, const SegmentSums& system,
                                          const RandomizationOptions& o) {
    check_pair(baseline, system, o.trials);
    const std::vector<double> ours = baseline.total(), theirs = system.total();
    const std::vector<DifferentRow> different = different_rows(baseline, system);
    std::vector<double> results(static_cast<std::size_t>(o.trials));
    parallel_for(o.trials, grain_of(baseline), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t t = begin; t < end; ++t) {
            const std::vector<std::uint64_t> coins = draw_exchanges(o.seed, t, baseline.segments);
            std::vector<double> moved(ours.size()), a(ours), b(theirs);
            for (const DifferentRow& d : different) {
                // times 0 or 1 instead of a branch that nobody can predict
                const auto exchanged =
                    static_cast<double>(coins[d.segment / 64] >> d.segment % 64 & 1);
                for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += exchanged * d.gain[k];
            }
            for (std::size_t k = 0; k < moved.size(); ++k) {
                a[k] += moved[k];
                b[k] -= moved[k];
            }
            results[static_cast<std::size_t>(t)] = std::abs(baseline.score(a) - baseline.score(b));
        }
    });
    return results;
}

PairedResult paired_randomization(const SegmentSums& baseline, const SegmentSums& system,
                                  const RandomizationOptions& options) {
    const std::vector<double> statistics = exchanged_differences(baseline, system, options);
    PairedResult result{baseline.score(baseline.total()), system.score(system.total()), 1};
    result.p_value = p_value(statistics, absolute_difference(result));
    return result;
}

}  // namespace fovea
