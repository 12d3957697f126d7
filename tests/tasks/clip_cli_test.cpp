// Clips through the real binary: films of a moving shape, told apart by a TimeSformer.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/io/test_folder.h"
#include "tests/page_data.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

std::vector<std::string> train_words(const std::string& data, const std::string& out,
                                     std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "train",      data,       "--out",        out,  "--layers",      "1",     "--heads",  "2",
        "--d-model",  "16",       "--image-size", "16", "--lr",          "0.003", "--warmup", "0",
        "--schedule", "constant", "--seed",       "3",  "--max-records", "16"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(ClipCli, ResumesToTheSameBitsForAnyThreadsAndAnswers) {
    const TestFolder folder;
    ASSERT_EQ(fovea({"data", "make", "clips", "--records", "96", "--out", folder / "clips"}).code,
              0);
    EXPECT_TRUE(file_exists(folder / "clips/shrinking/clip-00012/frame-08.png"));
    const Outcome whole = fovea(train_words(folder / "clips", folder / "whole",
                                            {"--steps", "8", "--save-every", "4", "--dev", "none",
                                             "--dropout", "0.1", "--threads", "2"}));
    ASSERT_EQ(whole.code, 0) << whole.err;
    EXPECT_NE(whole.err.find("it has a folder of clips for each label"), std::string::npos)
        << whole.err;
    EXPECT_NE(whole.err.find("timesformer, 1 layers, d=16"), std::string::npos) << whole.err;
    ASSERT_EQ(fovea(train_words(folder / "clips", folder / "parts",
                                {"--steps", "4", "--save-every", "4", "--dev", "none", "--dropout",
                                 "0.1", "--threads", "1"}))
                  .code,
              0);
    const Outcome rest = fovea({"train", "--out", folder / "parts", "--resume", "--steps", "8"});
    ASSERT_EQ(rest.code, 0) << rest.err;
    EXPECT_EQ(read_file(folder / "whole/step-0000000008/model.safetensors"),
              read_file(folder / "parts/step-0000000008/model.safetensors"));

    const Outcome e = fovea({"eval", folder / "whole", "--test", folder / "clips", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    EXPECT_EQ(parse_json(e.out, "eval")["records"], 96) << e.out;
    // a clip alone has the answer it has among others
    const std::string one = folder / "clips/left/clip-00001", two = folder / "clips/up/clip-00002";
    const std::vector<std::string> ask = {"classify", folder / "whole", "--format", "jsonl"};
    const Outcome both = fovea(ask, {.input = two + "\n" + one + "\n"});
    ASSERT_EQ(both.code, 0) << both.err;
    EXPECT_EQ(both.out.substr(both.out.find('\n') + 1), fovea(ask, {.input = one + "\n"}).out);

    // Where it looks: frames side by side, through time and within a frame.
    const Outcome page =
        fovea({"inspect", folder / "whole", "--text", one, "--html", folder / "page.html"});
    ASSERT_EQ(page.code, 0) << page.err;
    const Json data = html_data(folder / "page.html");
    ASSERT_EQ(data["maps"].size(), 2u);
    EXPECT_EQ(data["maps"][0]["part"], "encoder temporal self-attention");
    EXPECT_EQ(data["maps"][1]["part"], "encoder self-attention");
    EXPECT_EQ(data["seen"]["height"], 4);
    EXPECT_EQ(data["seen"]["width"], 8 * 4);
    // The patch in the second line and third column of the fourth frame.
    const std::size_t cell = 1 * 32 + 3 * 4 + 2;
    for (const auto& [side, rows] : {std::pair{"places", 128}, std::pair{"frames", 8 * 17}}) {
        ASSERT_EQ(data["sides"][side].size(), static_cast<std::size_t>(rows)) << side;
        const auto row = data["seen"]["places"][side][cell].get<std::size_t>();
        EXPECT_EQ(data["sides"][side][row], "frame 4: 1,2") << side;
    }
    EXPECT_EQ(data["seen"]["places"]["places"][cell], (1 * 4 + 2) * 8 + 3);
    EXPECT_EQ(data["seen"]["places"]["frames"][cell], 3 * 17 + 1 + 1 * 4 + 2);
}

TEST(ClipCli, WrongWishes) {
    const TestFolder folder;
    ASSERT_EQ(fovea({"data", "make", "clips", "--records", "16", "--out", folder / "clips"}).code,
              0);
    const auto refused = [&](const std::vector<std::string>& words, int code,
                             const std::string& says) {
        const Outcome o = fovea(words);
        EXPECT_EQ(o.code, code) << o.err;
        EXPECT_NE(o.err.find(says), std::string::npos) << o.err;
    };
    refused({"data", "make", "clips"}, 2, "wants --out FOLDER");
    refused({"data", "make", "clips", "--out", folder / "clips"}, 2, "is there already");
    refused({"data", "make", "clips", "--length", "3", "--out", folder / "b"}, 2, "--length");
    refused(train_words(folder / "clips", folder / "run", {"--attention", "sideways"}), 2,
            "--attention");
    refused(train_words(folder / "clips", folder / "run", {"--patch", "5"}), 2,
            "squares of 5-pixel");
    std::filesystem::remove(folder / "clips/left/clip-00002/frame-03.png");
    refused(train_words(folder / "clips", folder / "run"), 3,
            "has 7 frames, but the first clip has 8");
}

}  // namespace
}  // namespace fovea::test
