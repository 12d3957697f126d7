#include "fovea/train/dev_split.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/rng.h"

namespace fovea {
namespace {

std::vector<std::uint64_t> hashes(std::int64_t count) {
    Rng rng(3);
    std::vector<std::uint64_t> h;
    for (std::int64_t i = 0; i < count; ++i)
        h.push_back(std::uint64_t{rng.bits()} << 32 | rng.bits());
    return h;
}

std::int64_t chosen(std::int64_t records) {
    const std::vector<bool> split = dev_split(hashes(records));
    return std::count(split.begin(), split.end(), true);
}

TEST(DevSplit, FivePerCentAtMostAThousandNoneOfFew) {
    EXPECT_EQ(chosen(0), 0);
    EXPECT_EQ(chosen(199), 0);
    EXPECT_EQ(chosen(200), 10);
    EXPECT_EQ(chosen(2000), 100);
    EXPECT_EQ(chosen(50000), 1000);
}

TEST(DevSplit, FollowsTheRecordsAndNotTheirOrder) {
    std::vector<std::uint64_t> h = hashes(500);
    const std::vector<bool> split = dev_split(h);
    std::reverse(h.begin(), h.end());
    std::vector<bool> back = dev_split(h);
    std::reverse(back.begin(), back.end());
    EXPECT_EQ(split, back);
}

TEST(DevSplit, EqualRecordsStayOnOneSide) {
    std::vector<std::uint64_t> h = hashes(300);
    h.insert(h.end(), h.begin(), h.end());
    const std::vector<bool> split = dev_split(h);
    for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(split[i], split[i + 300]);
    EXPECT_LE(std::count(split.begin(), split.end(), true), 30);
    EXPECT_EQ(dev_split(std::vector<std::uint64_t>(400, 7)), std::vector<bool>(400, false));
}

}  // namespace
}  // namespace fovea
