#include "fovea/bench/rows.h"

#include <gtest/gtest.h>

#include "fovea/bench/sampling.h"

namespace fovea::bench {
namespace {

TEST(Rows, LeaveOutWhatDoesNotApply) {
    const Row row{.bench = "gemm",
                  .name = "fwd 1x2x3",
                  .precision = "f32",
                  .threads = 2,
                  .value = 123.456,
                  .median = 100,
                  .unit = "GFLOP/s"};
    const Json j = to_json(row);
    EXPECT_EQ(to_text(j),
              R"({"bench":"gemm","case":"fwd 1x2x3","precision":"f32","threads":2,"value":123.5,)"
              R"("unit":"GFLOP/s","better":"higher"})");
}

TEST(Rows, RatioAboveOneMeansAhead) {
    Row row{.bench = "b", .name = "n", .precision = "f32", .value = 30, .median = 25, .unit = "u"};
    EXPECT_FALSE(row.ratio().has_value());
    row.peer = "rival";
    row.peer_value = 20;
    row.share = 0.51234;
    EXPECT_DOUBLE_EQ(*row.ratio(), 1.5);
    const Json j = to_json(row);
    EXPECT_EQ(j.at("ratio"), 1.5);
    EXPECT_EQ(j.at("share"), 0.5123);
    EXPECT_EQ(j.at("peer"), "rival");
    EXPECT_FALSE(j.contains("median"));
    EXPECT_TRUE(to_json(row, true).contains("median"));
    row.higher_is_better = false;  // seconds: less is better
    EXPECT_NEAR(*row.ratio(), 2.0 / 3, 1e-12);
    EXPECT_EQ(to_json(row).at("better"), "lower");
}

// Contestants on a clock of their own: each sample takes what it says.
TEST(Sampling, TakesTurnsAndKeepsTheBest) {
    std::string order;
    int call = 0;
    const Contestant a{"a", 10, [&](int times) {
                           order += 'a';
                           return times * (++call % 3 == 0 ? 0.001 : 0.002);
                       }};
    const Contestant b{"b", 10, [&](int times) {
                           order += 'b';
                           return times * 0.004;
                       }};
    const auto figures =
        measure_in_turns({a, b, Contestant{}}, {.seconds = 0.02, .sample_seconds = 0.01});
    EXPECT_NEAR(figures[0].best, 10 / 0.001, 1e-6);
    EXPECT_NEAR(figures[0].median, 10 / 0.002, 1e-6);
    EXPECT_NEAR(figures[1].best, 10 / 0.004, 1e-6);
    EXPECT_EQ(figures[2].samples, 0);  // nothing to run
    EXPECT_NE(order.find("abab"), std::string::npos);
}

TEST(Sampling, DropsAContestantThatDies) {
    int calls = 0;
    const Contestant dying{"d", 1, [&](int) { return ++calls > 4 ? -1.0 : 0.001; }};
    const auto figures = measure_in_turns({dying}, {.seconds = 0.02});
    EXPECT_EQ(calls, 5);
    EXPECT_GT(figures[0].samples, 0);
}

}  // namespace
}  // namespace fovea::bench
