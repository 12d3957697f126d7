// Segmentation through the real binary: train, eval, predict, resume, threads, and what is refused.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/made_shapes.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"
#include "tests/page_data.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

class SegmentCli : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new TestFolder;
        write_made_shapes({.count = 24, .size = 48, .kinds = 1, .seed = 1}, train());
        write_made_shapes({.count = 6, .size = 48, .kinds = 1, .seed = 2}, test_set());
        const Outcome r = fovea(words_of("train " + train() + options() + " --out " + run()));
        ASSERT_EQ(r.code, 0) << r.err;
        said_ = r.err;
    }
    static void TearDownTestSuite() { delete folder_; }

    static std::string options(const std::string& steps = "60") {
        return " --dev " + test_set() + " --preset tiny --size 48 --max-records 4 --lr 2e-3 " +
               "--save-every 30 --eval-every 30 --steps " + steps;
    }
    static std::string train() { return *folder_ / "train"; }
    static std::string test_set() { return *folder_ / "test"; }
    static std::string run() { return *folder_ / "run"; }

    static TestFolder* folder_;
    static std::string said_;
};
TestFolder* SegmentCli::folder_ = nullptr;
std::string SegmentCli::said_;

TEST_F(SegmentCli, GuessesTheTaskLearnsAndBeatsNothing) {
    EXPECT_NE(said_.find("task: segment (" + train() +
                         ": it holds a folder of pictures and one of masks)"),
              std::string::npos)
        << said_;
    const Outcome r = fovea(
        words_of("eval " + run() + "/model --test " + test_set() + " --baseline otsu --json"));
    ASSERT_EQ(r.code, 0) << r.err;
    const Json j = parse_json(r.out, "eval");
    EXPECT_EQ(j["metric"], "Dice");
    EXPECT_GT(j["value"].get<double>(), 80);
    EXPECT_GT(j["figures"]["otsu_dice"].get<double>(), 80);
    EXPECT_TRUE(j["figures"].contains("margin_dice"));
    EXPECT_EQ(j["records"], 6);
}

TEST_F(SegmentCli, WritesMasksAndDrawings) {
    const std::string picture = test_set() + "/images/00000.png";
    const std::string masks = *folder_ / "found", drawings = *folder_ / "drawn";
    const Outcome r = fovea({"segment", run() + "/model", picture, "--masks", masks, "--draw",
                             drawings, "--format", "jsonl"});
    ASSERT_EQ(r.code, 0) << r.err;
    const Json j = parse_json(r.out, "segment");
    EXPECT_EQ(j["height"], 48);
    EXPECT_EQ(j["mask"], masks + "/00000.png");
    const Picture mask = read_picture(masks + "/00000.png", {.channels = 0});
    EXPECT_EQ(mask.channels, 1u);
    double bright = 0;
    for (const std::uint8_t v : mask.pixels) {
        EXPECT_TRUE(v == 0 || v == 255);
        bright += v == 255;
    }
    EXPECT_NEAR(bright / (48.0 * 48.0), j["shares"]["object"].get<double>(), 1e-9);
    EXPECT_EQ(read_picture(drawings + "/00000.png").width, 48u);
    // The same from a list of paths.
    const Outcome lines = fovea({"segment", run() + "/model"}, {.input = picture + "\n"});
    EXPECT_EQ(lines.code, 0) << lines.err;
    EXPECT_NE(lines.out.find("background 0."), std::string::npos) << lines.out;
    // A picture is never overwritten by its mask.
    const Outcome over =
        fovea({"segment", run() + "/model", picture, "--masks", test_set() + "/images"});
    EXPECT_EQ(over.code, 2) << over.err;
}

TEST_F(SegmentCli, ThePageShowsWhereEachCellLooks) {
    const std::string picture = test_set() + "/images/00000.png", html = *folder_ / "page.html";
    const Outcome r = fovea({"inspect", run() + "/model", "--text", picture, "--html", html});
    ASSERT_EQ(r.code, 0) << r.err;
    const Json page = html_data(html);
    const auto cells =
        page["seen"]["width"].get<std::size_t>() * page["seen"]["height"].get<std::size_t>();
    EXPECT_GT(cells, 1u);
    EXPECT_EQ(page["sides"]["cells"].size(), cells);
    ASSERT_FALSE(page["maps"].empty());
    for (const Json& map : page["maps"]) EXPECT_EQ(map["rows"], cells);
}

TEST_F(SegmentCli, ResumedAndWithOtherThreadsTheBitsAreTheSame) {
    const std::string other = *folder_ / "resumed";
    ASSERT_EQ(fovea(words_of("train " + train() + options("30") + " --out " + other +
                             " --schedule constant --warmup 5"),
                    {.env = {{"FOVEA_THREADS", "1"}}})
                  .code,
              0);
    const Outcome r = fovea(words_of("train --resume --steps 60 --out " + other),
                            {.env = {{"FOVEA_THREADS", "2"}}});
    ASSERT_EQ(r.code, 0) << r.err;
    const std::string whole = *folder_ / "whole";
    ASSERT_EQ(fovea(words_of("train " + train() + options("60") + " --out " + whole +
                             " --schedule constant --warmup 5"))
                  .code,
              0);
    EXPECT_EQ(read_file(other + "/step-0000000060/model.safetensors"),
              read_file(whole + "/step-0000000060/model.safetensors"));
}

TEST_F(SegmentCli, BadInputIsOneClearError) {
    const std::string model = run() + "/model", broken = *folder_ / "broken.png";
    write_file_atomically(broken, "no picture at all");
    const TestFolder odd;
    write_made_shapes({.count = 2, .size = 48, .kinds = 1, .seed = 5}, odd.path());
    write_png(odd / "masks/00001.png", blank_picture(9, 9, 1, "test"));
    const struct {
        std::string words;
        int code;
        std::string says;
    } cases[] = {
        {"segment " + model + " " + broken, 3, "broken.png"},
        {"segment " + model + " no-such.png", 4, "no-such.png"},
        {"train " + odd.path() + " --steps 1 --out " + (*folder_ / "odd"), 3, "9 x 9"},
        {"data check " + odd.path(), 3, "9 x 9"},
        {"train " + odd.path() + " --skip-bad 2 --steps 1 --dev " + odd.path() + " --preset tiny " +
             "--size 32 --out " + (*folder_ / "skipped"),
         0, "data: 1 pictures with masks, 1 more"},
        {"train " + train() + " --labels one,two,three --out " + (*folder_ / "many"), 2,
         "--labels names 3 labels, but the masks have 2"},
        {"train " + train() + " --max-tokens 5 --out " + (*folder_ / "few"), 2, "max-tokens"},
    };
    for (const auto& c : cases) {
        const Outcome r = fovea(words_of(c.words));
        EXPECT_EQ(r.code, c.code) << c.words << "\n" << r.err;
        EXPECT_NE((r.out + r.err).find(c.says), std::string::npos) << c.words << "\n"
                                                                   << r.out << r.err;
    }
    EXPECT_EQ(fovea(words_of("data check " + train() + "  " + test_set())).code, 0);
}

}  // namespace
}  // namespace fovea::test
