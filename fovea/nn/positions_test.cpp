// The properties the paper and the tutorials claim for position codes, and which code has them.
#include "fovea/nn/positions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace fovea {
namespace {

constexpr int d = 32;

Tensor rows(std::int64_t n, PositionCode code) {
    return position_code(Segments::uniform(1, n), d, code);
}

double distance(const Tensor& t, std::int64_t a, std::int64_t b) {
    double sum = 0;
    for (int c = 0; c < d; ++c) sum += std::pow(t.at(a, c) - t.at(b, c), 2);
    return std::sqrt(sum);
}

TEST(Positions, SinusoidsAreBoundedAndUnique) {
    for (const PositionCode code : {PositionCode::sinusoidal, PositionCode::halves}) {
        const Tensor t = rows(2000, code);
        for (const float v : t.span()) ASSERT_LE(std::fabs(v), 1.0f);
        for (std::int64_t a = 0; a < 2000; a += 37)
            for (std::int64_t b = a + 1; b < 2000; b += 11)
                ASSERT_GT(distance(t, a, b), 1e-2) << a << " " << b;
    }
    EXPECT_GT(rows(100, PositionCode::linear).at(99, 0), 1.0f);  // the linear code is not bounded
}

TEST(Positions, TheSameStepAtEveryLengthButNotForTheUnitCode) {
    const double step_short = distance(rows(5, PositionCode::sinusoidal), 1, 2);
    EXPECT_NEAR(distance(rows(500, PositionCode::sinusoidal), 1, 2), step_short, 1e-6);
    // Any two neighbours are equally far apart: a step means the same everywhere.
    EXPECT_NEAR(distance(rows(500, PositionCode::sinusoidal), 400, 401), step_short, 1e-3);
    EXPECT_GT(distance(rows(5, PositionCode::unit), 1, 2),
              50 * distance(rows(500, PositionCode::unit), 1, 2));
}

// PE(p + k) = M_k PE(p), M_k a rotation in each (sin, cos) plane that depends on k alone.
TEST(Positions, AShiftIsALinearMap) {
    const Tensor t = rows(400, PositionCode::sinusoidal);
    for (const std::int64_t k : {1, 7, 100})
        for (std::int64_t p = 0; p + k < 400; p += 13)
            for (int i = 0; i < d / 2; ++i) {
                const double angle = static_cast<double>(k) * std::pow(10000.0, -2.0 * i / d);
                const double s = t.at(p, 2 * i), c = t.at(p, 2 * i + 1);
                ASSERT_NEAR(t.at(p + k, 2 * i), s * std::cos(angle) + c * std::sin(angle), 2e-5);
                ASSERT_NEAR(t.at(p + k, 2 * i + 1), c * std::cos(angle) - s * std::sin(angle),
                            2e-5);
            }
}

TEST(Positions, HalvesAreTheSameNumbersInAnotherOrder) {
    const Tensor a = rows(50, PositionCode::sinusoidal), b = rows(50, PositionCode::halves);
    for (std::int64_t p = 0; p < 50; ++p)
        for (int i = 0; i < d / 2; ++i) {
            EXPECT_EQ(a.at(p, 2 * i), b.at(p, i));
            EXPECT_EQ(a.at(p, 2 * i + 1), b.at(p, d / 2 + i));
        }
}

TEST(Positions, PackedSequencesCountFromZeroEach) {
    for (const PositionCode code :
         {PositionCode::sinusoidal, PositionCode::unit, PositionCode::linear}) {
        const Tensor packed = position_code(Segments::of_lengths({3, 0, 5}), d, code);
        const Tensor alone = rows(5, code);
        EXPECT_EQ(std::memcmp(packed.data() + 3 * d, alone.data(), 5 * d * sizeof(float)), 0)
            << name_of(code);
        EXPECT_EQ(position_code_of(name_of(code)), code);
    }
    EXPECT_THROW(position_code_of("magic"), Error);
    EXPECT_THROW(position_code(Segments::uniform(1, 2), d, PositionCode::learned), Error);
}

}  // namespace
}  // namespace fovea
