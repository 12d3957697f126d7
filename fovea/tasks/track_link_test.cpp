#include "fovea/tasks/track_link.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

SeenThing thing(double y, double x, std::vector<float> features = {}) {
    SeenThing t;
    t.box = {0, x - 4, y - 4, 8, 8};
    t.centre_y = y;
    t.centre_x = x;
    t.area = 64;
    t.label = 1;
    t.features = std::move(features);
    return t;
}

std::vector<std::int64_t> ids(const std::vector<SeenThing>& seen) {
    std::vector<std::int64_t> all;
    for (const SeenThing& s : seen) all.push_back(s.box.id);
    return all;
}

using Numbers = std::vector<std::int64_t>;

TEST(TrackLinker, FollowsBirthsDeathsAndGaps) {
    TrackLinker linker({.reach = 10, .patience = 1});
    EXPECT_EQ(ids(linker.next({thing(10, 10), thing(10, 60)})), (Numbers{1, 2}));
    EXPECT_EQ(ids(linker.next({thing(12, 58), thing(12, 12)})), (Numbers{2, 1}));
    EXPECT_EQ(ids(linker.next({thing(14, 14)})), (Numbers{1}));
    EXPECT_EQ(ids(linker.next({thing(16, 54), thing(80, 80)})), (Numbers{2, 3}));  // a gap; a birth
    EXPECT_EQ(ids(linker.next({})), Numbers{});
    EXPECT_EQ(ids(linker.next({thing(20, 20)})), (Numbers{4}));  // 1 has died: unseen for three
    EXPECT_EQ(ids(linker.next({thing(40, 40)})), (Numbers{5}));  // too far
}

// The nearest is the wrong one; the look tells.
TEST(TrackLinker, FeaturesTellThingsApartThatPass) {
    const auto ends = [](const TrackOptions& o) {
        TrackLinker linker(o);
        linker.next({thing(10, 10, {0, 5}), thing(10, 24, {1, 9}), thing(90, 90, {0.4f, 7})});
        return ids(linker.next(
            {thing(10, 19, {0.02f, 5.1f}), thing(10, 15, {0.98f, 9}), thing(90, 91, {0.4f, 7})}));
    };
    EXPECT_EQ(ends({.feature = 0, .reach = 12}), (Numbers{2, 1, 3}));
    EXPECT_EQ(ends({.feature = 2, .reach = 12}), (Numbers{1, 2, 3}));
}

TEST(TrackLinker, LinksThingsOfOneLabelAlone) {
    TrackLinker linker({});
    SeenThing other = thing(10, 10);
    other.label = 2;
    linker.next({thing(10, 10)});
    EXPECT_EQ(ids(linker.next({other})), (Numbers{2}));
    EXPECT_THROW(TrackLinker({.iou = 0, .centre = 0, .feature = 0}), Error);
}

}  // namespace
}  // namespace fovea
