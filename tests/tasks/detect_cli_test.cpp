// Detection through the real binary: train, eval, predict, resume, threads, and what is refused.
#include <gtest/gtest.h>

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/data/made_boxes.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"
#include "tests/page_data.h"
#include "tests/run_program.h"

namespace fovea::test {
namespace {

class DetectCli : public testing::Test {
protected:
    static void SetUpTestSuite() {
        folder_ = new TestFolder;
        write_made_boxes({.count = 32, .size = 64, .kinds = 1, .seed = 1}, train());
        write_made_boxes({.count = 8, .size = 64, .kinds = 1, .seed = 2}, test_set());
        const Outcome r = fovea(words_of("train " + train() + options("300") + " --out " + run()));
        ASSERT_EQ(r.code, 0) << r.err;
        said_ = r.err;
    }
    static void TearDownTestSuite() { delete folder_; }

    static std::string options(const std::string& steps) {
        return " --dev " + test_set() +
               " --layers 2 --decoder-layers 1 --d-model 32 --heads 2 --ffn 64 --queries 12 "
               "--size 64 --max-records 4 --lr 3e-3 --warmup 10 --save-every 30 --eval-every 150 "
               "--steps " +
               steps;
    }
    static std::string train() { return *folder_ / "train"; }
    static std::string test_set() { return *folder_ / "test"; }
    static std::string run() { return *folder_ / "run"; }
    static std::string picture() { return test_set() + "/JPEGImages/00000.png"; }

    static TestFolder* folder_;
    static std::string said_;
};
TestFolder* DetectCli::folder_ = nullptr;
std::string DetectCli::said_;

TEST_F(DetectCli, GuessesTheTaskAndLearns) {
    EXPECT_NE(said_.find("task: detect (" + train() + ": it holds pictures and their boxes in XML"),
              std::string::npos)
        << said_;
    for (const char* head : {"dense", "decoder"}) {
        const Outcome r = fovea(
            words_of("eval " + run() + "/model --test " + test_set() + " --json --head " + head));
        ASSERT_EQ(r.code, 0) << r.err;
        const Json j = parse_json(r.out, "eval");
        EXPECT_EQ(j["metric"], "AP50");
        EXPECT_GT(j["value"].get<double>(), head == std::string("dense") ? 75 : 50) << head;
        EXPECT_TRUE(j["figures"].contains("ar100"));
        EXPECT_TRUE(j["figures"]["classes"].contains("disc"));
        EXPECT_EQ(j["records"], 8);
    }
}

TEST_F(DetectCli, WritesBoxesDrawingsAndResults) {
    const std::string drawings = *folder_ / "drawn", results = *folder_ / "results.json";
    const Outcome r = fovea({"detect", run() + "/model", picture(), "--draw", drawings, "--results",
                             results, "--least", "0.1", "--format", "jsonl"});
    ASSERT_EQ(r.code, 0) << r.err;
    const Json j = parse_json(r.out, "detect");
    EXPECT_EQ(j["width"], 64);
    ASSERT_FALSE(j["things"].empty());
    EXPECT_EQ(j["things"][0]["label"], "disc");
    EXPECT_EQ(read_picture(drawings + "/00000.png").width, 64u);
    const Json coco = parse_json(read_file(results), results);
    ASSERT_EQ(coco.size(), j["things"].size());
    EXPECT_EQ(coco[0]["image_id"], 0);
    EXPECT_EQ(coco[0]["category_id"], 1);
    EXPECT_EQ(coco[0]["bbox"], j["things"][0]["box"]);
    // The same from a list of paths, as a table of a thing a row.
    const Outcome lines = fovea({"detect", run() + "/model", "--format", "tsv", "--least", "0.1"},
                                {.input = picture() + "\n"});
    ASSERT_EQ(lines.code, 0) << lines.err;
    EXPECT_EQ(static_cast<std::size_t>(std::count(lines.out.begin(), lines.out.end(), '\n')),
              1 + j["things"].size());
    EXPECT_EQ(
        fovea({"detect", run() + "/model", picture(), "--draw", test_set() + "/JPEGImages"}).code,
        2);  // a picture is never overwritten by its drawing
}

TEST_F(DetectCli, ThePageShowsWhereEachThingLooks) {
    const std::string html = *folder_ / "page.html";
    const Outcome r = fovea({"inspect", run() + "/model", "--text", picture(), "--html", html});
    ASSERT_EQ(r.code, 0) << r.err;
    const Json page = html_data(html);
    EXPECT_EQ(page["seen"]["width"], 8);  // 64 pixels in cells of 8
    EXPECT_EQ(page["sides"]["cells"].size(), 64u);
    EXPECT_EQ(page["seen"]["boxes"].size(), page["sides"]["things"].size());
    ASSERT_EQ(page["maps"].size(), 4u);  // two of the encoder, two of the decoder's layer
    const Json& cross = page["maps"][3];
    EXPECT_EQ(cross["queries"], "things");
    EXPECT_EQ(cross["keys"], "cells");
}

TEST_F(DetectCli, ResumedAndWithOtherThreadsTheBitsAreTheSame) {
    const std::string other = *folder_ / "resumed", whole = *folder_ / "whole",
                      constant = " --schedule constant --out ";
    ASSERT_EQ(fovea(words_of("train " + train() + options("30") + constant + other),
                    {.env = {{"FOVEA_THREADS", "1"}}})
                  .code,
              0);
    const Outcome r = fovea(words_of("train --resume --steps 60 --out " + other),
                            {.env = {{"FOVEA_THREADS", "2"}}});
    ASSERT_EQ(r.code, 0) << r.err;
    ASSERT_EQ(fovea(words_of("train " + train() + options("60") + constant + whole)).code, 0);
    EXPECT_EQ(read_file(other + "/step-0000000060/model.safetensors"),
              read_file(whole + "/step-0000000060/model.safetensors"));
}

TEST_F(DetectCli, SoIsDetr) {
    const std::string other = *folder_ / "detr-resumed", whole = *folder_ / "detr-whole",
                      words = "train " + train() +
                              " --model detr --dev none --layers 1 --decoder-layers 2 --d-model 16 "
                              "--heads 2 --ffn 32 --queries 6 --dropout 0.1 --max-records 4 "
                              "--schedule constant --save-every 4 --steps ";
    ASSERT_EQ(fovea(words_of(words + "4 --threads 1 --out " + other)).code, 0);
    const Outcome r = fovea(words_of("train --resume --steps 8 --threads 2 --out " + other));
    ASSERT_EQ(r.code, 0) << r.err;
    ASSERT_EQ(fovea(words_of(words + "8 --out " + whole)).code, 0);
    EXPECT_EQ(read_file(other + "/step-0000000008/model.safetensors"),
              read_file(whole + "/step-0000000008/model.safetensors"));
}

// The same data as a COCO file, whose numbers of labels come back in results; and the body of a
// model for other labels.
TEST_F(DetectCli, LearnsFromCocoAndFromAnotherModel) {
    Json coco{{"images", Json::array()},
              {"annotations", Json::array()},
              {"categories", {{{"id", 17}, {"name", "ball"}}, {{"id", 4}, {"name", "box"}}}}};
    const std::string folder = *folder_ / "coco";
    make_folders(folder + "/images");
    for (std::int64_t i = 0; i < 6; ++i) {
        const BoxesPicture made = made_boxes({.size = 64, .kinds = 2, .seed = 5}, i);
        const std::string name = std::to_string(100 + i) + ".png";
        write_png(folder + "/images/" + name, made.picture);
        coco["images"].push_back({{"id", i}, {"file_name", name}, {"height", 64}, {"width", 64}});
        for (const BoxedThing& t : made.things)
            coco["annotations"].push_back(
                {{"image_id", i},
                 {"category_id", t.label == "disc" ? 17 : 4},
                 {"bbox",
                  {t.box.left, t.box.top, t.box.right - t.box.left, t.box.bottom - t.box.top}}});
    }
    write_file_atomically(folder + "/instances.json", to_text(coco));
    const std::string out = *folder_ / "from";
    const Outcome r = fovea(words_of("train " + folder + "/instances.json --dev none --from " +
                                     run() + "/model --steps 4 --out " + out));
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.err.find("task: detect"), std::string::npos) << r.err;
    const std::string results = *folder_ / "coco-results.json";
    ASSERT_EQ(fovea({"detect", out + "/model", folder + "/images/103.png", "--results", results,
                     "--least", "0"})
                  .code,
              0);
    const Json found = parse_json(read_file(results), results);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0]["image_id"], 103);
    EXPECT_TRUE(found[0]["category_id"] == 17 || found[0]["category_id"] == 4);
    EXPECT_EQ(fovea(words_of("eval " + out + "/model --test " + folder + "/instances.json")).code,
              0);
}

TEST_F(DetectCli, BadInputIsOneClearError) {
    const std::string model = run() + "/model", broken = *folder_ / "broken.png",
                      json = *folder_ / "broken.json";
    write_file_atomically(broken, "no picture at all");
    write_file_atomically(json, R"({"images": [{"id": 1}], "categories": [], "annotations": []})");
    const TestFolder odd, other, cut;
    write_made_boxes({.count = 2, .size = 64, .kinds = 1, .seed = 5}, odd.path());
    write_png(odd / "JPEGImages/00001.png", blank_picture(9, 9, 3, "test"));
    write_made_boxes({.count = 9, .size = 64, .kinds = 3, .seed = 5}, other.path());
    write_made_boxes({.count = 2, .size = 64, .kinds = 1, .seed = 6}, cut.path());
    write_file_atomically(cut / "Annotations/00001.xml", "<annotation><object>");
    const struct {
        std::string words;
        int code;
        std::string says;
    } cases[] = {
        {"detect " + model + " " + broken, 3, "broken.png"},
        {"detect " + model + " no-such.png", 4, "no-such.png"},
        {"detect " + model + " " + picture() + " --head magic", 2, "its heads: dense, decoder"},
        {"train " + odd.path() + " --dev none --steps 3 --out " + (*folder_ / "odd"), 3, "9 x 9"},
        {"data check " + odd.path(), 3, "9 x 9"},
        {"train " + odd.path() + " --skip-bad 1 --dev none --steps 1 --layers 1 --d-model 16 " +
             "--heads 2 --out " + (*folder_ / "skipped"),
         0, "passed over: " + (odd / "JPEGImages/00001.png") + ": is 9 x 9"},
        {"train " + cut.path() + " --steps 3 --out " + (*folder_ / "cut"), 3, "00001.xml"},
        {"data check " + cut.path(), 3, "00001.xml"},
        {"eval " + model + " --test " + other.path(), 3, "which the model does not know"},
        {"train " + json + " --out " + (*folder_ / "json"), 3, "file_name"},
        {"train " + train() + " --max-tokens 5 --out " + (*folder_ / "few"), 2, "max-tokens"},
        // a flag of another task does not make pictures texts
        {"train " + train() + " --encoder-layers 2 --out " + (*folder_ / "flag"), 2,
         "no flag `--encoder-layers`"},
        {"train " + train() + " --d-model 20 --out " + (*folder_ / "odd-width"), 2,
         "multiple of 8"},
    };
    for (const auto& c : cases) {
        const Outcome r = fovea(words_of(c.words));
        EXPECT_EQ(r.code, c.code) << c.words << "\n" << r.err;
        EXPECT_NE((r.out + r.err).find(c.says), std::string::npos) << c.words << "\n"
                                                                   << r.out << r.err;
    }
    EXPECT_EQ(fovea(words_of("data check " + train() + " " + test_set())).code, 0);
}

}  // namespace
}  // namespace fovea::test
