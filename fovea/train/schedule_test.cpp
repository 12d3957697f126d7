#include "fovea/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Schedule, NoamIsEquationThree) {
    const Schedule s{.kind = ScheduleKind::noam, .peak = 1, .warmup = 4000, .d_model = 512};
    for (const int t : {1, 100, 4000, 4001, 100000})
        EXPECT_NEAR(s.at(t),
                    std::pow(512, -0.5) * std::min(std::pow(t, -0.5), t * std::pow(4000, -1.5)),
                    1e-12);
}

TEST(Schedule, RisesPeaksAndFalls) {
    for (const ScheduleKind k : {ScheduleKind::constant, ScheduleKind::inverse_sqrt,
                                 ScheduleKind::linear, ScheduleKind::cosine}) {
        const Schedule s{.kind = k, .peak = 0.5, .warmup = 10, .total = 100, .floor = 0.1};
        EXPECT_DOUBLE_EQ(s.at(5), 0.25) << name_of(k);
        EXPECT_NEAR(s.at(10), 0.5, 1e-12) << name_of(k);
        for (int t = 11; t <= 100; ++t) EXPECT_LE(s.at(t), s.at(t - 1) + 1e-15) << name_of(k);
        if (k == ScheduleKind::linear || k == ScheduleKind::cosine) {
            EXPECT_NEAR(s.at(100), 0.05, 1e-12);
        }
        EXPECT_EQ(schedule_kind_of(name_of(k)), k);
    }
    EXPECT_NEAR((Schedule{.kind = ScheduleKind::inverse_sqrt, .peak = 1, .warmup = 100}).at(400),
                0.5, 1e-12);
    EXPECT_THROW(schedule_kind_of("magic"), Error);
    const Schedule whole{.peak = 1e-3, .warmup = 10, .total = 100};
    EXPECT_NO_THROW(whole.check());
    for (const auto& spoil :
         {+[](Schedule& s) { s.peak = 0; }, +[](Schedule& s) { s.peak = -1; },
          +[](Schedule& s) { s.peak = NAN; }, +[](Schedule& s) { s.warmup = -1; },
          +[](Schedule& s) { s.total = 0; }}) {
        Schedule s = whole;
        spoil(s);
        EXPECT_THROW(s.check(), Error);
    }
}

}  // namespace
}  // namespace fovea
