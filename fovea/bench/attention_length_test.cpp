#include "fovea/bench/attention_length.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"

namespace fovea::bench {
namespace {

const std::vector<double> some_lengths = {1000, 2000, 4000, 8000};

std::vector<LengthPoint> points_of(double exponent) {
    std::vector<LengthPoint> points;
    for (const double n : some_lengths)
        points.push_back({"global", "fwd", n, 1e-6 * std::pow(n, exponent), 2e-3 * n});
    return points;
}

TEST(LengthFit, FindsTheLineAndThePower) {
    const LengthFit line = fit_of(some_lengths, {5, 8, 14, 26});  // 2 + 0.003 n
    EXPECT_NEAR(line.slope, 0.003, 1e-12);
    EXPECT_NEAR(line.r_squared, 1, 1e-12);
    const LengthFit square = fit_of(some_lengths, {1, 4, 16, 64});
    EXPECT_NEAR(square.exponent, 2, 1e-12);
    EXPECT_LT(square.r_squared, 0.97);
    EXPECT_NEAR(fit_of(some_lengths, {7, 7, 7, 7}).r_squared, 1, 1e-12);
    EXPECT_THROW(fit_of({1, 2}, {1, 2}), Error);
}

TEST(LengthFit, ALineOfTextAMechanism) {
    std::vector<LengthPoint> points = points_of(2);
    points.push_back({"bag", "fwd", 1000, 1, 0});  // one length: no fit
    const std::vector<std::string> lines = fit_lines(points);
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("global fwd: "), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("n^2.00); 2 kB a row (R² 1.0000, n^1.00)"), std::string::npos)
        << lines[0];
}

TEST(LengthPicture, DrawsBothCostsOfTheWorkThatWasAskedFor) {
    const std::string svg = attention_length_svg(points_of(1), "fwd");
    EXPECT_NE(svg.find("milliseconds by rows"), std::string::npos);
    EXPECT_NE(svg.find("megabytes"), std::string::npos);
    std::size_t lines = 0;
    for (std::size_t at = svg.find("<polyline"); at != std::string::npos;
         at = svg.find("<polyline", at + 1))
        ++lines;
    EXPECT_EQ(lines, 2u);
    EXPECT_EQ(attention_length_svg(points_of(1), "fwd+bwd"), "");
    EXPECT_EQ(attention_length_svg({points_of(1)[0]}, "fwd"), "");
}

}  // namespace
}  // namespace fovea::bench
