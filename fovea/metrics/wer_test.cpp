#include "fovea/metrics/wer.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

TEST(WordErrorRate, IsThatOfJiwer) {
    const Json all = read_json(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/speech.json");
    int cases = 0;
    for (const Json& g : all.at("wer")) {
        SCOPED_TRACE(g.dump());
        const auto check = [&](const EditCounts& n, const Json& wanted, const Json& rate) {
            EXPECT_EQ(
                (std::vector<std::int64_t>{n.hits, n.substitutions, n.deletions, n.insertions}),
                wanted.get<std::vector<std::int64_t>>());
            EXPECT_DOUBLE_EQ(n.rate(), rate.get<double>());
        };
        const std::string r = g.at("reference"), h = g.at("hypothesis");
        check(word_edits(r, h), g.at("words"), g.at("wer"));
        check(character_edits(r, h), g.at("characters"), g.at("cer"));
        ++cases;
    }
    EXPECT_GE(cases, 50);
}

TEST(WordErrorRate, AddsUpCountsNotRates) {
    const std::vector<std::string> references{"one two", "three", ""}, said{"one", "three", "four"};
    const MetricScore s = word_error_rate(references, said);
    EXPECT_DOUBLE_EQ(s.value, 100.0 * 2 / 3);
    EXPECT_FALSE(s.higher_is_better);
    EXPECT_DOUBLE_EQ(s.figures.at("exact"), 100.0 / 3);
    EXPECT_EQ(s.figures.at("deletions"), 1);
    EXPECT_EQ(s.figures.at("insertions"), 1);
    EXPECT_THROW(word_error_rate(references, {}), Error);
    EXPECT_THROW(word_error_rate({}, {}), Error);
}

}  // namespace
}  // namespace fovea
