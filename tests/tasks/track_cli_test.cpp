// Tracks through the real binary: made ones, a segmenter, tracking, measuring, and what can go
// wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/mot_text.h"
#include "fovea/io/picture.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

TEST(TrackCli, FollowsShapes) {
    const TestFolder folder;
    const Outcome made =
        fovea({"data", "make", "tracks", "--records", "2", "--frames", "6", "--objects", "5",
               "--size", "96", "--seed", "3", "--out", folder / "tracks"});
    ASSERT_EQ(made.code, 0) << made.err;
    ASSERT_TRUE(file_exists(folder / "tracks/0001/frames/000006.png"));
    // Frames with their masks are what a segmenter learns from.
    const Outcome t =
        fovea({"train", folder / "tracks/0000/frames," + (folder / "tracks/0000/masks"), "--task",
               "segment", "--preset", "tiny", "--steps", "60", "--lr", "0.003", "--dev", "none",
               "--out", folder / "run"});
    ASSERT_EQ(t.code, 0) << t.err;

    const Outcome e =
        fovea({"eval", folder / "run", "--test", folder / "tracks", "--own-masks", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    const Json j = parse_json(e.out, "eval");
    EXPECT_EQ(j["metric"], "IDF1");
    EXPECT_GE(j["value"].get<double>(), 95) << e.out;  // slow things, perfect masks
    EXPECT_GE(j["figures"]["mota"].get<double>(), 95) << e.out;
    EXPECT_EQ(j["records"], 2);

    const std::string frames = folder / "tracks/0001/frames";
    const Outcome o = fovea({"track", folder / "run", frames, "--draw", folder / "drawn"});
    ASSERT_EQ(o.code, 0) << o.err;
    const auto lines = parse_mot_text(o.out, "answer");
    EXPECT_FALSE(lines.empty());
    EXPECT_EQ(read_picture(folder / "drawn/000002.png").width, 96u);
    EXPECT_EQ(fovea({"track", folder / "run", "--threads", "1"}, {.input = frames + "\n"}).out,
              o.out);
    const Outcome rows = fovea({"track", folder / "run", frames, "--format", "tsv"});
    EXPECT_TRUE(rows.out.starts_with("frame\ttrack\tleft\ttop\twidth\theight\tlabel\n"))
        << rows.out;
    EXPECT_EQ(static_cast<std::size_t>(std::count(rows.out.begin(), rows.out.end(), '\n')),
              lines.size() + 1);
    const Json all =
        parse_json(fovea({"track", folder / "run", frames, "--format", "jsonl"}).out, "answer");
    std::size_t boxes = 0;
    for (const Json& track : all["tracks"]) boxes += track["boxes"].size();
    EXPECT_EQ(boxes, lines.size());

    // ids as masks are the same truth
    const std::string other = folder / "ids/one";
    make_folders(other + "/frames");
    make_folders(other + "/ids");
    Picture picture = read_picture(frames + "/000001.png"), ids = blank_picture(96, 96, 1, "ids");
    for (std::uint32_t y = 10; y < 20; ++y)
        for (std::uint32_t x = 30; x < 50; ++x) *ids.at(y, x) = 7;
    write_png(other + "/frames/1.png", picture);
    write_png(other + "/ids/1.png", ids);
    const Outcome by_ids = fovea({"eval", folder / "run", "--test", folder / "ids", "--json"});
    ASSERT_EQ(by_ids.code, 0) << by_ids.err;
    EXPECT_EQ(parse_json(by_ids.out, "eval")["figures"]["objects"], 1);

    struct Case {
        std::vector<std::string> words;
        int code;
        std::string says;
    };
    write_file_atomically(folder / "ids/one/truth.txt", "1,2,three\n");
    const std::vector<Case> table = {
        {{"track", folder / "run", frames + "/000001.png"}, 3, "no folder of frames"},
        {{"eval", folder / "run", "--test", folder / "ids"}, 3, "is not a box"},
        {{"eval", folder / "run", "--test", folder / "tracks", "--iou-weight", "0",
          "--centre-weight", "0", "--feature-weight", "0"},
         2,
         "all 0"},
        {{"data", "make", "scenes", "--out", folder / "scenes"}, 2, "--pictures"},
        {{"data", "make", "shapes", "--pictures", "x", "--out", folder / "s"}, 2, "scenes and"},
    };
    for (const Case& c : table) {
        const Outcome bad = fovea(c.words);
        EXPECT_EQ(bad.code, c.code) << bad.err;
        EXPECT_NE(bad.err.find(c.says), std::string::npos) << bad.err;
        EXPECT_NE(bad.err.find("hint:"), std::string::npos) << bad.err;
    }
}

}  // namespace
}  // namespace fovea::test
