#include "fovea/metrics/detection.h"

#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/base/json.h"

namespace fovea {
namespace {

// The rule by which tools/make_goldens_detection.py draws its cases.
struct Draw {
    std::uint64_t x;
    int below(int n) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        return static_cast<int>((x >> 33) % static_cast<std::uint64_t>(n));
    }
};

struct Case {
    int categories;
    std::vector<PictureBoxes> pictures;
    bool any_found = false;
};

Box drawn_box(Draw& d) {
    static constexpr int sides[] = {8, 40, 120};
    const int side = sides[d.below(3)];
    Box b;
    b.x = d.below(200) / 2.0;
    b.y = d.below(200) / 2.0;
    b.width = 1 + d.below(side);
    b.height = 1 + d.below(side);
    return b;
}

FoundBox drawn_answer(Draw& d, const std::vector<WantedBox>& wanted, int categories) {
    FoundBox f;
    if (!wanted.empty() && d.below(3)) {
        const WantedBox& near =
            wanted[static_cast<std::size_t>(d.below(static_cast<int>(wanted.size())))];
        f.box = near.box;
        f.box.x += d.below(9) / 4.0 - 1;
        f.box.y += d.below(9) / 4.0 - 1;
        f.box.width += d.below(5) / 4.0;
        f.box.height += d.below(5) / 4.0;
        f.category = near.category;
        if (d.below(6) == 0) f.category = d.below(categories);
    } else {
        f.box = drawn_box(d);
        f.category = d.below(categories);
    }
    f.score = d.below(20) / 20.0;
    return f;
}

Case drawn_case(std::uint64_t seed) {
    Draw d{seed};
    Case c{1 + d.below(3), {}};
    const int pictures = 1 + d.below(5);
    for (int p = 0; p < pictures; ++p) {
        PictureBoxes& boxes = c.pictures.emplace_back();
        const int wanted = d.below(9);
        for (int i = 0; i < wanted; ++i) {
            WantedBox w;
            w.box = drawn_box(d);
            w.area = w.box.width * w.box.height * (0.5 + d.below(100) / 200.0);
            w.category = d.below(c.categories);
            w.crowd = d.below(10) == 0;
            boxes.wanted.push_back(w);
        }
        const int found = d.below(14);
        for (int i = 0; i < found; ++i)
            boxes.found.push_back(drawn_answer(d, boxes.wanted, c.categories));
        c.any_found = c.any_found || found > 0;
    }
    return c;
}

Json coco_golden() { return read_json(std::string(FOVEA_SOURCE_DIR) + "/tests/metrics/coco.json"); }

TEST(Detection, TheTwelveFiguresOfPycocotools) {
    const Json golden = coco_golden()["figures"];
    ASSERT_EQ(golden.size(), 1000u);
    int compared = 0, without = 0;
    for (std::size_t seed = 0; seed < golden.size(); ++seed) {
        const Case c = drawn_case(seed);
        ASSERT_EQ(c.any_found, !golden[seed].is_null()) << seed;
        if (!c.any_found) continue;
        const std::array<double, 12> found = detection_score(c.pictures, c.categories).figures();
        for (std::size_t i = 0; i < found.size(); ++i) {
            const double want = golden[seed][i].get<double>();
            EXPECT_NEAR(found[i], want, 1e-12) << "case " << seed << " figure " << i;
            without += want < 0;
        }
        ++compared;
    }
    EXPECT_GT(compared, 930);
    EXPECT_GT(without, 150);  // figures that have nothing to measure are among them
}

// Blood cells (BCCD's test pictures), and boxes that a detector might have found.
std::vector<PictureBoxes> blood_cells(const Json& pictures) {
    Draw d{7};
    std::vector<PictureBoxes> all;
    for (const Json& boxes : pictures) {
        PictureBoxes& p = all.emplace_back();
        for (const Json& b : boxes) {
            const double x = b[1], y = b[2], w = b[3], h = b[4];
            p.wanted.push_back({{x, y, w, h}, b[0].get<int>(), w * h, false});
        }
        for (const WantedBox& w : p.wanted) {
            const int times = d.below(3) == 0 ? d.below(4) : 1;
            for (int i = 0; i < times; ++i) {
                FoundBox f;
                f.category = d.below(9) == 0 ? d.below(3) : w.category;
                f.box.x = w.box.x + d.below(41) / 2.0 - 10;
                f.box.y = w.box.y + d.below(41) / 2.0 - 10;
                f.box.width = w.box.width + d.below(21);
                f.box.height = w.box.height + d.below(21);
                f.score = d.below(1000) / 1000.0;
                p.found.push_back(f);
            }
        }
        const int more = d.below(5);
        for (int i = 0; i < more; ++i) {
            FoundBox f;
            f.box.x = d.below(600);
            f.box.y = d.below(440);
            f.box.width = 10 + d.below(100);
            f.box.height = 10 + d.below(100);
            f.score = d.below(500) / 1000.0;
            f.category = d.below(3);
            p.found.push_back(f);
        }
    }
    return all;
}

TEST(Detection, BloodCellsAsPycocotools) {
    const Json golden = coco_golden()["bccd"];
    ASSERT_EQ(golden["boxes"].size(), 72u);
    const std::array<double, 12> found = detection_score(blood_cells(golden["boxes"]), 3).figures();
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], golden["figures"][i].get<double>(), 1e-12) << i;
    EXPECT_GT(found[1], 0.3);
}

TEST(Detection, ByHand) {
    PictureBoxes p;
    p.wanted = {{{0, 0, 10, 10}, 0, 100, false}, {{50, 50, 10, 10}, 0, 100, false}};
    p.found = {{{0, 0, 10, 10}, 0, 0.9}, {{80, 80, 10, 10}, 0, 0.5}};
    const PictureBoxes pictures[] = {p};
    const DetectionScore s = detection_score(pictures, 1);
    EXPECT_NEAR(s.ap50, 51.0 / 101, 1e-12);  // all precision up to a recall of one half
    EXPECT_NEAR(s.ar100, 0.5, 1e-12);
    EXPECT_EQ(s.ap_large, -1);
    const std::vector<std::string> labels{"cell"};
    const MetricScore m = s.score(labels);
    EXPECT_FALSE(m.figures.contains("ap_large"));
    EXPECT_NEAR(m.figures["classes"]["cell"]["ap50"].get<double>(), 100 * 51.0 / 101, 1e-9);
}

TEST(Detection, OverlapOfBoxes) {
    EXPECT_DOUBLE_EQ(box_overlap({0, 0, 2, 2}, {1, 1, 2, 2}), 1.0 / 7);
    EXPECT_DOUBLE_EQ(box_overlap({0, 0, 2, 2}, {1, 1, 2, 2}, true), 1.0 / 4);
    EXPECT_DOUBLE_EQ(box_overlap({0, 0, 2, 2}, {2, 0, 2, 2}), 0);
}

}  // namespace
}  // namespace fovea
