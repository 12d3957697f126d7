#include "fovea/data/made_tracks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/components.h"
#include "fovea/data/made_scenes.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

TEST(MadeTracks, EachThingIsAComponentWhereItsTrackSays) {
    const MadeTracks options{.frames = 6, .objects = 8, .size = 160, .speed = 4, .seed = 3};
    const MadeSequence made = made_tracks(options, 1);
    ASSERT_EQ(made.frames.size(), 6u);
    ASSERT_EQ(made.frames[0].channels, 3u);
    std::map<std::int64_t, TrackLine> before;
    for (std::size_t f = 0; f < 6; ++f) {
        std::vector<TrackLine> truth;
        for (const TrackLine& t : made.truth)
            if (t.frame == static_cast<std::int64_t>(f)) truth.push_back(t);
        const Components c = connected_components(made.masks[f].pixels, 160, 160);
        ASSERT_EQ(c.all.size(), truth.size()) << f;
        for (const TrackLine& t : truth) {
            const auto same = [&](const Component& o) {
                return o.left == t.left && o.top == t.top && o.width == t.width &&
                       o.height == t.height;
            };
            EXPECT_EQ(std::count_if(c.all.begin(), c.all.end(), same), 1) << f << " " << t.track;
            if (const auto b = before.find(t.track); b != before.end()) {
                EXPECT_LE(std::hypot(t.left - b->second.left, t.top - b->second.top), 4 + 1.5);
            }
        }
        before.clear();
        for (const TrackLine& t : truth) before[t.track] = t;
    }
    EXPECT_GE(before.size(), 4u);
    EXPECT_EQ(made_tracks(options, 1).frames, made.frames);
    EXPECT_NE(made_tracks(options, 2).frames, made.frames);
}

TEST(MadeTracks, MissesAreMissingInMasksAlone) {
    MadeTracks options{.frames = 8, .objects = 8, .size = 160, .seed = 3};
    const MadeSequence whole = made_tracks(options, 0);
    options.misses = 0.3;
    const MadeSequence part = made_tracks(options, 0);
    EXPECT_EQ(part.frames, whole.frames);
    EXPECT_EQ(mot_text(part.truth), mot_text(whole.truth));
    std::size_t all = 0, left = 0;
    for (std::size_t f = 0; f < 8; ++f) {
        all += connected_components(whole.masks[f].pixels, 160, 160).all.size();
        left += connected_components(part.masks[f].pixels, 160, 160).all.size();
    }
    EXPECT_LT(left, all * 9 / 10);
    EXPECT_GT(left, all / 2);
}

// Two labels of pictures: a light square in the middle of dark ground, and a dimmer one.
TEST(MadeScenes, MasksSayWhatIsOnTheCanvas) {
    const TestFolder folder;
    for (const auto& [label, grey] : {std::pair{"dim", 90}, std::pair{"light", 220}}) {
        make_folders(folder / label);
        for (int i = 0; i < 3; ++i) {
            Picture p = blank_picture(12, 12, 1, "p");
            for (std::uint32_t y = 3; y < 9; ++y)
                for (std::uint32_t x = 3; x < 9; ++x)
                    *p.at(y, x) = static_cast<std::uint8_t>(grey + i);
            write_png(folder / (std::string(label) + "/" + std::to_string(i) + ".png"), p);
        }
    }
    const SceneMaker maker({.pictures = folder / "", .size = 48, .seed = 4});
    EXPECT_EQ(maker.labels(), (std::vector<std::string>{"dim", "light"}));
    std::map<int, std::int64_t> seen;
    for (std::int64_t i = 0; i < 20; ++i) {
        const ShapesPicture s = maker.scene(i);
        EXPECT_EQ(s.picture, maker.scene(i).picture);
        for (std::size_t p = 0; p < s.mask.pixels.size(); ++p) {
            ++seen[s.mask.pixels[p]];
            if (s.mask.pixels[p] == 0) {
                EXPECT_LT(s.picture.pixels[p], 104);
            }
            if (s.mask.pixels[p] == 1) {
                EXPECT_LE(s.picture.pixels[p], 92);
            }
        }
    }
    EXPECT_EQ(seen.size(), 3u);
    EXPECT_NE(maker.scene(0).picture, maker.scene(1).picture);
    try {
        const SceneMaker none({});
        ADD_FAILURE();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        EXPECT_NE(e.hint().find("train-images"), std::string::npos);
    }
}

}  // namespace
}  // namespace fovea
