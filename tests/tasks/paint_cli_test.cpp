// Painting pictures through the real binary: train, resume, threads, bits, samples, completions.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/picture.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

// Six by six: one half light and the other dark, with a little noise.
Picture half(bool upper, Rng& rng) {
    Picture p = blank_picture(6, 6, 1, "half");
    for (std::uint32_t y = 0; y < 6; ++y)
        for (std::uint32_t x = 0; x < 6; ++x)
            *p.at(y, x) = static_cast<std::uint8_t>(((y < 3) == upper ? 200 : 20) + rng.below(4));
    return p;
}

void put_halves(const std::string& folder, int of_each, std::uint64_t seed) {
    Rng rng(seed);
    for (const bool upper : {false, true}) {
        const std::string inner = join_path(folder, upper ? "upper" : "lower");
        make_folders(inner);
        for (int i = 0; i < of_each; ++i)
            write_png(join_path(inner, std::to_string(i) + ".png"), half(upper, rng));
    }
}

Outcome train(const std::string& data, const std::string& out, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"train",    data, "--task",    "paint", "--out",   out,
                                      "--layers", "2",  "--d-model", "24",    "--heads", "2",
                                      "--seed",   "3",  "--lr",      "0.01"};
    words.insert(words.end(), more.begin(), more.end());
    return fovea(words);
}

TEST(PaintCli, LearnsMeasuresPaintsAndCompletes) {
    const TestFolder folder;
    put_halves(folder / "halves", 60, 1);
    put_halves(folder / "test", 10, 2);
    const Outcome t = train(folder / "halves", folder / "run", {"--epochs", "40"});
    ASSERT_EQ(t.code, 0) << t.err;
    const Outcome e = fovea({"eval", folder / "run", "--test", folder / "test", "--baseline",
                             "independent", "--training", folder / "halves", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    const Json j = parse_json(e.out, "eval");
    EXPECT_EQ(j["task"], "paint");
    const double bits = j["value"].get<double>();
    EXPECT_LT(bits, 2.6) << e.out;  // the noise itself has two
    EXPECT_GT(bits, 2.0) << e.out;
    EXPECT_NEAR(j["figures"]["independent_bits_per_dim"].get<double>(),
                bits + j["figures"]["margin_bits_per_dim"].get<double>(), 1e-9);
    EXPECT_GT(j["figures"]["margin_bits_per_dim"].get<double>(), 0.5) << e.out;
    EXPECT_TRUE(j["figures"]["classes"].contains("upper")) << e.out;

    // pictures of a class are light where they should be
    const Outcome p = fovea({"generate", folder / "run", "--class", "upper", "--samples", "3",
                             "--seed", "5", "--pictures", folder / "painted"});
    ASSERT_EQ(p.code, 0) << p.err;
    EXPECT_EQ(std::count(p.out.begin(), p.out.end(), '\n'), 3);
    const Picture third = read_picture(folder / "painted/upper/00000-0002.png", {.channels = 1});
    EXPECT_GT(*third.at(1, 2), 150);
    EXPECT_LT(*third.at(4, 2), 80);
    // the same by the other verb, whatever the batch and the neighbours
    const Outcome q = fovea({"paint",      folder / "run",
                             "--class",    "upper",
                             "--class",    "lower",
                             "--samples",  "3",
                             "--seed",     "5",
                             "--pictures", folder / "again",
                             "--batch",    "2",
                             "--sheet",    folder / "sheet.png",
                             "--training", folder / "halves",
                             "--nearest",  "2"});
    ASSERT_EQ(q.code, 0) << q.err;
    EXPECT_EQ(read_picture(folder / "again/upper/00000-0002.png", {.channels = 1}), third);
    const Picture sheet = read_picture(folder / "sheet.png", {.channels = 1});
    EXPECT_EQ(sheet.height, 6 * 16 + 4u);
    EXPECT_EQ(sheet.width, 3 * 16 + 4u);
    EXPECT_EQ(*sheet.at(4, 4), *read_picture(folder / "again/upper/00000-0000.png").at(0, 0));

    const std::string begun = folder / "test/lower/1.png";
    const Outcome c = fovea({"paint", folder / "run", "--class", "lower", "--complete", begun,
                             "--given", "0.34", "--format", "jsonl"});
    ASSERT_EQ(c.code, 0) << c.err;
    const Json painted = parse_json(c.out, "painting");
    const Picture wanted = read_picture(begun, {.channels = 1});
    for (std::size_t i = 0; i < 12; ++i)
        EXPECT_EQ(painted["samples"][0]["pixels"][i].get<int>(), int{wanted.pixels[i]}) << i;
    EXPECT_GT(painted["samples"][0]["pixels"][32].get<int>(), 150);
}

TEST(PaintCli, ResumesToTheSameBitsWithAnyNumberOfThreads) {
    const TestFolder folder;
    put_halves(folder / "halves", 30, 1);
    const auto run = [&](const std::string& out, std::vector<std::string> more) {
        more.insert(more.end(), {"--schedule", "constant", "--warmup", "0", "--save-every", "4",
                                 "--dropout", "0.1"});
        const Outcome o = train(folder / "halves", folder / out, more);
        EXPECT_EQ(o.code, 0) << o.err;
    };
    run("whole", {"--steps", "12"});
    run("parts", {"--steps", "6"});
    const Outcome o = fovea({"train", "--out", folder / "parts", "--resume", "--steps", "12"});
    EXPECT_EQ(o.code, 0) << o.err;
    run("one", {"--steps", "12", "--threads", "1"});
    const auto weights = [&](const std::string& out) {
        return read_file(folder / (out + "/step-0000000012/model.safetensors"));
    };
    EXPECT_TRUE(weights("parts") == weights("whole"));
    EXPECT_TRUE(weights("one") == weights("whole"));
    const Outcome mean =
        fovea({"average", folder / "whole", "--last", "2", "--out", folder / "mean"});
    ASSERT_EQ(mean.code, 0) << mean.err;
    EXPECT_EQ(fovea({"paint", folder / "mean", "--class", "upper"}).code, 0);
}

TEST(PaintCli, SaysWhatIsWrong) {
    const TestFolder folder;
    put_halves(folder / "halves", 12, 1);
    ASSERT_EQ(train(folder / "halves", folder / "run", {"--steps", "1"}).code, 0);
    write_file_atomically(folder / "no.png", "GIF89a...");
    struct Case {
        std::vector<std::string> words;
        int code;
        std::string says;
    };
    const std::vector<Case> table = {
        {{"paint", folder / "run", "--class", "trouser"}, 2, "its classes are lower, upper"},
        {{"paint", folder / "run", "--class", "upper", "--complete", folder / "no.png"},
         3,
         "is a GIF file"},
        {{"paint", folder / "run", "--class", "upper", "--complete", folder / "halves/upper/1.png",
          "--complete", folder / "halves/upper/2.png"},
         2,
         "one for all classes"},
        {{"generate", folder / "run", "--class", "upper", "--beam", "3"}, 2, "paints pictures"},
        {{"eval", folder / "run", "--test", folder / "halves", "--baseline", "independent"},
         2,
         "--training"},
        {{"train", folder / "halves", "--task", "paint", "--out", folder / "x", "--attention",
          "expanded:3,2"},
         3,
         "look ahead"},
        {{"train", folder / "halves", "--task", "paint", "--out", folder / "x", "--heads", "5"},
         2,
         "does not split"},
    };
    for (const Case& c : table) {
        const Outcome o = fovea(c.words);
        EXPECT_EQ(o.code, c.code) << o.err;
        EXPECT_NE(o.err.find(c.says), std::string::npos) << o.err;
        EXPECT_NE(o.err.find("hint:"), std::string::npos) << o.err;
    }
}

}  // namespace
}  // namespace fovea::test
