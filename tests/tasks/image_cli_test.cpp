// Pictures through the real binary: train, resume, threads, eval, predict, and what can go wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/io/idx.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"
#include "fovea/text/base64.h"
#include "tests/page_data.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

// A bar that lies or stands, somewhere in noise.
Picture bar(bool stands, Rng& rng) {
    Picture p{12, 12, 1, {}};
    const auto at = static_cast<std::uint32_t>(rng.below(9) + 1);
    for (std::uint32_t y = 0; y < 12; ++y)
        for (std::uint32_t x = 0; x < 12; ++x)
            p.pixels.push_back(
                static_cast<std::uint8_t>((stands ? x : y) == at ? 230 : rng.below(60)));
    return p;
}

void put_bars(const std::string& folder, int of_each, std::uint64_t seed) {
    Rng rng(seed);
    for (const bool stands : {false, true}) {
        const std::string inner = join_path(folder, stands ? "stands" : "lies");
        make_folders(inner);
        for (int i = 0; i < of_each; ++i)
            write_png(join_path(inner, std::to_string(i) + ".png"), bar(stands, rng));
    }
}

std::vector<std::string> train_words(const std::string& data, const std::string& out,
                                     std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"train",     data,    "--out",   out, "--layers", "2",
                                      "--d-model", "16",    "--heads", "2", "--patch",  "4",
                                      "--lr",      "0.005", "--seed",  "3"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(ImageCli, TrainsMeasuresAndAnswers) {
    const TestFolder folder;
    put_bars(folder / "bars", 150, 1);
    put_bars(folder / "test", 25, 2);
    const Outcome t = fovea(train_words(folder / "bars", folder / "run", {"--epochs", "12"}));
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("a folder of pictures for each label"), std::string::npos) << t.err;
    EXPECT_NE(t.err.find("held out"), std::string::npos) << t.err;
    EXPECT_TRUE(file_exists(folder / "run/model/preprocessor_config.json"));

    const Outcome e = fovea({"eval", folder / "run", "--test", folder / "test", "--json"});
    ASSERT_EQ(e.code, 0) << e.err;
    const Json j = parse_json(e.out, "eval");
    EXPECT_EQ(j["task"], "image");
    EXPECT_GE(j["value"].get<double>(), 95.0) << e.out;
    EXPECT_TRUE(j["figures"].contains("macro_f1"));

    const std::string lies = folder / "test/lies/3.png", stands = folder / "test/stands/4.png";
    const Outcome both = fovea({"image", folder / "run", lies, stands});
    ASSERT_EQ(both.code, 0) << both.err;
    EXPECT_TRUE(both.out.starts_with(lies + "\tlies\t")) << both.out;
    EXPECT_NE(both.out.find("\n" + stands + "\tstands\t"), std::string::npos) << both.out;
    // paths one a line; `classify` and `predict` are the same; neighbours change nothing
    const std::string lines = lies + "\n" + stands + "\n";
    EXPECT_EQ(fovea({"classify", folder / "run"}, {.input = lines}).out, both.out);
    EXPECT_EQ(fovea({"predict", folder / "run"}, {.input = stands + "\n"}).out,
              both.out.substr(both.out.find('\n') + 1));
    const Json line = parse_json(
        fovea({"classify", folder / "run", lies, "--format", "jsonl", "--top", "1"}).out, "answer");
    EXPECT_EQ(line["label"], "lies");
    EXPECT_EQ(line["probabilities"].size(), 1u);
    EXPECT_TRUE(fovea({"image", folder / "run", lies, "--format", "tsv"})
                    .out.starts_with("picture\tlabel\tprobability\n"));
    // where it looks, over the picture: 1 class token and 9 patches, 2 layers of 2 heads
    const Outcome page =
        fovea({"inspect", folder / "run", "--text", lies, "--html", folder / "page.html"});
    ASSERT_EQ(page.code, 0) << page.err;
    const Json seen = html_data(folder / "page.html");
    EXPECT_EQ(seen["output"], "lies");
    EXPECT_EQ(seen["seen"]["side"], "patches");
    EXPECT_EQ(seen["seen"]["first"], 1);
    EXPECT_EQ(seen["seen"]["width"], 3);
    ASSERT_EQ(seen["maps"].size(), 2u);
    for (const Json& map : seen["maps"])
        for (std::size_t h = 0; h < 2; ++h) {
            const std::string bytes =
                text::decode_base64(map["bytes"][h].get<std::string>(), "map");
            ASSERT_EQ(bytes.size(), 100u);
            double sum = 0;  // of the class token's row
            for (std::size_t i = 0; i < 10; ++i) {
                const double v = static_cast<unsigned char>(bytes[i]) / 255.0;
                sum += v * v * map["tops"][h].get<double>();
            }
            EXPECT_NEAR(sum, 1, 0.02);
        }
    // a picture that is none
    write_file_atomically(folder / "no.png", "GIF89a...");
    const Outcome bad = fovea({"image", folder / "run", folder / "no.png"});
    EXPECT_EQ(bad.code, 3);
    EXPECT_NE(bad.err.find("is a GIF file"), std::string::npos) << bad.err;
    EXPECT_NE(bad.err.find("hint:"), std::string::npos) << bad.err;
    EXPECT_EQ(fovea({"tag", folder / "run"}, {.input = "x\n"}).code, 2);
}

TEST(ImageCli, ResumesToTheSameBitsWithAnyNumberOfThreads) {
    const TestFolder folder;
    put_bars(folder / "bars", 60, 1);
    const auto run = [&](const std::string& out, std::vector<std::string> more) {
        more.insert(more.end(), {"--schedule", "constant", "--warmup", "0", "--save-every", "5",
                                 "--dropout", "0.1", "--mirror", "--turns", "--scale", "0.2",
                                 "--colour", "0.2", "--erase", "0.3", "--mixup", "0.4"});
        const Outcome o = fovea(train_words(folder / "bars", folder / out, more));
        EXPECT_EQ(o.code, 0) << o.err;
    };
    run("whole", {"--steps", "30"});
    run("parts", {"--steps", "15"});
    const Outcome o = fovea({"train", "--out", folder / "parts", "--resume", "--steps", "30"});
    EXPECT_EQ(o.code, 0) << o.err;
    run("one", {"--steps", "30", "--threads", "1"});
    const auto weights = [&](const std::string& out) {
        return read_file(folder / (out + "/step-0000000030/model.safetensors"));
    };
    EXPECT_EQ(weights("parts"), weights("whole"));
    EXPECT_EQ(weights("one"), weights("whole"));
    const Outcome mean =
        fovea({"average", folder / "whole", "--last", "2", "--out", folder / "mean"});
    ASSERT_EQ(mean.code, 0) << mean.err;
    EXPECT_EQ(fovea({"image", folder / "mean", folder / "bars/lies/0.png"}).code, 0);
}

TEST(ImageCli, ReadsIdxAndGoesOnFromAModel) {
    const TestFolder folder;
    Rng rng(5);
    IdxFile images{{240, 12, 12}, {}}, labels{{240}, {}};
    for (int i = 0; i < 240; ++i) {
        const bool stands = rng.below(2) == 1;
        const Picture p = bar(stands, rng);
        images.bytes.insert(images.bytes.end(), p.pixels.begin(), p.pixels.end());
        labels.bytes.push_back(stands ? 1 : 0);
    }
    write_idx(folder / "train-images-idx3-ubyte", images);
    write_idx(folder / "train-labels-idx1-ubyte", labels);
    const std::string data = folder / "train-images-idx3-ubyte";
    const Outcome t = fovea(train_words(data, folder / "run", {"--epochs", "10"}));
    ASSERT_EQ(t.code, 0) << t.err;
    EXPECT_NE(t.err.find("IDX"), std::string::npos) << t.err;
    const Outcome all = fovea({"classify", folder / "run", data});
    ASSERT_EQ(all.code, 0) << all.err;
    EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 240);
    // a new head for other labels, on the same body
    put_bars(folder / "bars", 60, 9);
    const Outcome n = fovea({"train", folder / "bars", "--from", folder / "run", "--out",
                             folder / "next", "--epochs", "3"});
    ASSERT_EQ(n.code, 0) << n.err;
    EXPECT_NE(n.err.find("new: classifier.weight"), std::string::npos) << n.err;
    EXPECT_EQ(
        fovea({"eval", folder / "next", "--test", folder / "bars", "--require", "accuracy=80"})
            .code,
        0);
}

TEST(ImageCli, DataCheckFindsBadFilesAndLeaks) {
    const TestFolder folder;
    put_bars(folder / "bars", 4, 1);
    const Outcome good = fovea({"data", "check", folder / "bars"});
    EXPECT_EQ(good.code, 0) << good.out << good.err;
    EXPECT_NE(good.out.find("8 pictures, 2 labels"), std::string::npos) << good.out;
    put_bars(folder / "dev", 4, 1);
    EXPECT_EQ(fovea({"data", "check", folder / "bars", folder / "dev"}).code, 3);
    write_file_atomically(folder / "bars/lies/bad.png", "x");
    const Outcome bad = fovea({"data", "check", folder / "bars", "--json"});
    EXPECT_EQ(bad.code, 3);
    EXPECT_EQ(parse_json(bad.out, "check")["files"][0]["bad_files"], 1);
    const Outcome train = fovea(train_words(folder / "bars", folder / "run", {"--epochs", "1"}));
    EXPECT_EQ(train.code, 3);
    EXPECT_NE(train.err.find("bad.png: is not a picture"), std::string::npos) << train.err;
    const Outcome passed = fovea(train_words(
        folder / "bars", folder / "run", {"--epochs", "1", "--dev", "none", "--skip-bad", "1"}));
    EXPECT_EQ(passed.code, 0) << passed.err;
    EXPECT_NE(passed.err.find("passed over: " + (folder / "bars/lies/bad.png")), std::string::npos)
        << passed.err;
}

// Three modalities are the channels of one picture, not the frames of a clip.
TEST(ImageCli, SeveralPicturesOfACaseAreChannels) {
    const TestFolder folder;
    for (int i = 0; i < 3; ++i)
        put_bars(folder / ("t" + std::to_string(i)), 4, static_cast<std::uint64_t>(i));
    const std::string all = (folder / "t0") + "," + (folder / "t1") + "," + (folder / "t2");
    const Outcome o = fovea(train_words(all, folder / "run", {"--steps", "1", "--dev", "none"}));
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.err.find("vit, 2 layers"), std::string::npos) << o.err;
    EXPECT_NE(o.err.find("with 3 channels"), std::string::npos) << o.err;
}

TEST(ImageCli, WrongSizesAreToldBeforeAnythingIsLearned) {
    const TestFolder folder;
    put_bars(folder / "bars", 4, 1);
    const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
        {{"--image-size", "10", "--patch", "4"}, "do not split into patches"},
        {{"--heads", "3", "--d-model", "16"}, "does not split into 3 heads"},
        {{"--channels", "2"}, "--channels is 2"},
    };
    for (const auto& [more, words] : table) {
        std::vector<std::string> all = {"train", folder / "bars", "--out", folder / "run"};
        all.insert(all.end(), more.begin(), more.end());
        const Outcome o = fovea(all);
        EXPECT_EQ(o.code, 2) << o.err;
        EXPECT_NE(o.err.find(words), std::string::npos) << o.err;
    }
}

}  // namespace
}  // namespace fovea::test
