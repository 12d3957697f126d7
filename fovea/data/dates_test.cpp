#include "fovea/data/dates.h"

#include <gtest/gtest.h>

#include <set>

namespace fovea {
namespace {

TEST(Dates, HeldOutDatesNeverOccurInTraining) {
    std::set<std::string> train, test;
    for (const TextPair& p : written_dates({.count = 20000})) train.insert(p.target);
    for (const TextPair& p : written_dates({.count = 2000, .held_out = true}))
        test.insert(p.target);
    for (const std::string& t : test) EXPECT_EQ(train.count(t), 0u) << t;
    EXPECT_GT(test.size(), 1000u);
}

TEST(Dates, SameSeedSameDataAndPlainForms) {
    const auto a = written_dates({.count = 500}), b = written_dates({.count = 500});
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].source, b[i].source);
        ASSERT_EQ(a[i].target.size(), 10u);
        EXPECT_EQ(a[i].target[4], '-');
        EXPECT_NE(a[i].source.find(a[i].target.substr(0, 4)), std::string::npos) << a[i].source;
    }
}

}  // namespace
}  // namespace fovea
