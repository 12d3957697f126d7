#include "fovea/metrics/tracking.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

std::vector<TrackBox> boxes_of(const Json& list) {
    std::vector<TrackBox> boxes;
    for (const Json& b : list) boxes.push_back({b[0], b[1], b[2], b[3], b[4]});
    return boxes;
}

// What py-motmetrics says of 120 random sequences (tools/make_goldens_tracking.py).
TEST(Tracking, CountsAsMotmetricsDoes) {
    const std::string path = std::string(FOVEA_SOURCE_DIR) + "/tests/metrics/tracking.json";
    const Json goldens = parse_json(read_file(path), path);
    ASSERT_GE(goldens["cases"].size(), 100u);
    std::int64_t number = 0;
    for (const Json& c : goldens["cases"]) {
        SCOPED_TRACE(number++);
        TrackingScorer scorer;
        for (const Json& frame : c["frames"])
            scorer.add(boxes_of(frame["true"]), boxes_of(frame["found"]));
        const TrackingCounts t = scorer.counts();
        const std::pair<const char*, double> got[] = {
            {"num_frames", static_cast<double>(t.frames)},
            {"num_objects", static_cast<double>(t.objects)},
            {"num_predictions", static_cast<double>(t.found)},
            {"num_matches", static_cast<double>(t.matches)},
            {"num_switches", static_cast<double>(t.switches)},
            {"num_misses", static_cast<double>(t.misses)},
            {"num_false_positives", static_cast<double>(t.false_alarms)},
            {"num_fragmentations", static_cast<double>(t.fragments)},
            {"idtp", static_cast<double>(t.same_identity)},
            {"mota", t.mota()},
            {"motp", t.motp()},
            {"idf1", t.idf1()},
            {"idp", t.id_precision()},
            {"idr", t.id_recall()},
            {"precision", t.precision()},
            {"recall", t.recall()},
        };
        for (const auto& [name, value] : got)  // null: 0 / 0
            EXPECT_NEAR(value, c["want"][name].is_null() ? 0.0 : c["want"][name].get<double>(),
                        1e-12)
                << name;
    }
}

TEST(Tracking, SequencesAddUp) {
    const TrackBox box{1, 0, 0, 4, 4}, other{2, 0, 0, 4, 4};
    TrackingScorer a, b;
    a.add({&box, 1}, {&box, 1});
    a.add({&box, 1}, {&other, 1});  // a switch
    b.add({&box, 1}, {});
    TrackingCounts sum = a.counts();
    sum += b.counts();
    EXPECT_EQ(sum.switches, 1);
    EXPECT_EQ(sum.misses, 1);
    EXPECT_EQ(sum.same_identity, 1);
    EXPECT_DOUBLE_EQ(sum.mota(), 1 - 2.0 / 3);
    EXPECT_DOUBLE_EQ(sum.score(0.5).value, 100 * 2.0 / 5);
    const TrackBox twice[] = {box, box};
    EXPECT_THROW(a.add(twice, {}), Error);
}

}  // namespace
}  // namespace fovea
