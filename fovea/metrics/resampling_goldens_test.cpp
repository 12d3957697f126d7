// sacreBLEU's scores of given resamples and exchanges, and what its formulas make of them
// (tests/metrics/resampling.json, made by tools/make_metric_goldens.py).
#include <gtest/gtest.h>

#include "fovea/base/json.h"
#include "fovea/metrics/corpus_score.h"
#include "fovea/metrics/resampling.h"

namespace fovea {
namespace {

constexpr double digits = 1e-9;
const std::string golden_folder = FOVEA_SOURCE_DIR "/tests/metrics/";

struct GoldenSystems {
    std::vector<std::string> baseline, system;
    std::vector<References> references;
};

GoldenSystems golden_systems(const Json& g) {
    GoldenSystems s;
    const Json texts = read_json(golden_folder + "sacrebleu.json");
    for (const Json& segment : texts["segments"]) {
        s.baseline.push_back(segment["hyp"]);
        s.references.push_back(segment["refs"].get<References>());
    }
    s.system = g["others"].get<std::vector<std::string>>();
    return s;
}

CorpusScore measured_as(const std::string& key, const GoldenSystems& s,
                        const std::vector<std::string>& lines) {
    if (key == "bleu") return measure_bleu(lines, s.references);
    return measure_chrf(lines, s.references, {.word_order = key == "chrf2++" ? 2 : 0});
}

double score_of(const SegmentSums& sums, const std::vector<std::int64_t>& segments) {
    std::vector<double> sum(static_cast<std::size_t>(sums.width));
    for (const std::int64_t i : segments)
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += sums.row(i)[k];
    return sums.score(sum);
}

double exchanged_difference(const SegmentSums& a, const SegmentSums& b,
                            const std::vector<int>& exchanged) {
    std::vector<double> first(static_cast<std::size_t>(a.width)), second(first);
    for (std::int64_t i = 0; i < a.segments; ++i)
        for (std::size_t k = 0; k < first.size(); ++k) {
            const bool swap = exchanged[static_cast<std::size_t>(i)] != 0;
            first[k] += (swap ? b : a).row(i)[k];
            second[k] += (swap ? a : b).row(i)[k];
        }
    return std::abs(a.score(first) - a.score(second));
}

TEST(ResamplingGoldens, ScoresIntervalsAndPValues) {
    const Json g = read_json(golden_folder + "resampling.json");
    const GoldenSystems s = golden_systems(g);
    ASSERT_EQ(g["metrics"].size(), 3u);
    for (const Json& m : g["metrics"]) {
        const auto key = m["key"].get<std::string>();
        const CorpusScore a = measured_as(key, s, s.baseline), b = measured_as(key, s, s.system);
        EXPECT_EQ(a.key, key);
        const auto real = m["real"].get<double>();
        EXPECT_NEAR(std::abs(a.score.value - b.score.value), real, digits);
        for (std::size_t r = 0; r < g["resamples"].size(); ++r) {
            const auto drawn = g["resamples"][r].get<std::vector<std::int64_t>>();
            EXPECT_NEAR(score_of(a.sums, drawn), m["baseline"][r].get<double>(), digits);
            EXPECT_NEAR(score_of(b.sums, drawn), m["system"][r].get<double>(), digits);
            EXPECT_NEAR(
                exchanged_difference(a.sums, b.sums, g["exchanges"][r].get<std::vector<int>>()),
                m["exchanged"][r].get<double>(), digits);
        }
        const Interval i = confidence_interval(m["system"].get<std::vector<double>>());
        EXPECT_NEAR(i.mean, m["mean"].get<double>(), digits);
        EXPECT_NEAR(i.half_width, m["half_width"].get<double>(), digits);
        const auto exchanged = m["exchanged"].get<std::vector<double>>();
        EXPECT_EQ(p_value(m["centred"].get<std::vector<double>>(), real), m["bootstrap_p"]);
        EXPECT_EQ(p_value(exchanged, real), m["randomization_p"]);
        for (const Json& at : m["p_at"]) EXPECT_EQ(p_value(exchanged, at[0].get<double>()), at[1]);
    }
}

}  // namespace
}  // namespace fovea
