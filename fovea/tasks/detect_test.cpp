#include "fovea/tasks/detect.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "fovea/base/files.h"
#include "fovea/data/made_boxes.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/detect_examples.h"

namespace fovea {
namespace {

DetectModel tiny_finder(const std::vector<std::string>& labels = {"disc", "square"}) {
    ModelFolder folder;
    folder.labels = labels;
    folder.config = find_detection_model("fovea_detector")
                        ->new_config({.layers = 2,
                                      .decoder_layers = 1,
                                      .width = 16,
                                      .heads = 2,
                                      .ffn = 24,
                                      .queries = 5});
    ReadingSize reads;
    reads.share = 0.5;
    return DetectModel::create(folder, reads, 3);
}

bool same(const std::vector<FoundBox>& a, const std::vector<FoundBox>& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](const FoundBox& x, const FoundBox& y) {
               return x.box.x == y.box.x && x.box.height == y.box.height && x.score == y.score &&
                      x.category == y.category;
           });
}

DetectExamples made_examples(const std::string& folder) {
    write_made_boxes({.count = 4, .size = 64, .kinds = 2, .seed = 2}, folder);
    DetectExamples e;
    e.records = read_boxed({.paths = {folder}}).pictures;
    e.labels = {"disc", "square"};
    e.sides = {48, 48};
    e.augment = {.scale = 0.25, .mirror = true, .turns = true, .colour = 0.2};
    return e;
}

TEST(Detect, APictureIsAnsweredTheSameWhateverItsNeighbours) {
    const DetectModel model = tiny_finder();
    std::vector<Picture> pictures;
    for (std::int64_t i = 0; i < 3; ++i)
        pictures.push_back(made_boxes({.size = 64, .kinds = 2}, i).picture);
    pictures.push_back(blank_picture(3, 70, 3, "small"));
    const auto all = detect(model, pictures);
    ASSERT_EQ(all.size(), 4u);
    std::vector<std::thread> threads;  // and from several threads at once
    for (std::size_t i = 0; i < pictures.size(); ++i)
        threads.emplace_back([&, i] {
            EXPECT_TRUE(same(detect(model, {&pictures[i], 1})[0], all[i]));
        });
    for (std::thread& t : threads) t.join();
    for (const FoundBox& f : all[1]) {
        EXPECT_GE(f.box.x, 0);
        EXPECT_LE(f.box.x + f.box.width, 64.001);
    }
}

TEST(Detect, SavedAndOpenedAgainItIsTheSame) {
    const TestFolder folder;
    const DetectModel model = tiny_finder();
    model.save(folder / "model", false);
    const DetectModel again = DetectModel::open(ModelFolder::open(folder / "model"));
    EXPECT_EQ(again.folder.task, "detect");
    EXPECT_EQ(again.reads.share, 0.5);
    EXPECT_EQ(again.folder.labels, model.folder.labels);
    EXPECT_EQ(again.scaling.mean, model.scaling.mean);
    const Picture picture = made_boxes({.size = 64, .kinds = 2}, 0).picture;
    for (const char* head : {"dense", "decoder"})
        EXPECT_TRUE(same(again.find(picture, {.head = head}), model.find(picture, {.head = head})));
    // The body for other labels: what knows labels is new, the rest is as it was.
    ModelFolder::NewHead report;
    const DetectModel other =
        DetectModel::create_from(ModelFolder::open(folder / "model"), {"a", "b", "c"}, 5, report);
    EXPECT_EQ(report.made.size(), 4u);
    EXPECT_EQ(other.store->at("dense.classes.bias").size(), 3);
    EXPECT_EQ(other.store->at("encoder.norm.weight").values(),
              model.store->at("encoder.norm.weight").values());
}

TEST(DetectExamples, AreDrawnByEpochAndSampleAlone) {
    const TestFolder folder;
    const DetectExamples examples = made_examples(folder.path());
    const std::int64_t some[] = {2, 0}, one[] = {0};
    const DetectExamples::Batch both = examples.batch(some, 3), alone = examples.batch(one, 3);
    const auto part = static_cast<std::size_t>(48 * 48 * 3);
    EXPECT_EQ(std::memcmp(both.pictures.rows.data() + part, alone.pictures.rows.data(), part * 4),
              0);
    ASSERT_EQ(both.things[1].size(), alone.things[0].size());
    for (std::size_t i = 0; i < alone.things[0].size(); ++i)
        EXPECT_EQ(both.things[1][i].box, alone.things[0][i].box);
    EXPECT_EQ(both.pictures.corners[1], alone.pictures.corners[0]);
    EXPECT_EQ(both.pictures.samples, (std::vector<std::uint64_t>{2, 0}));
    EXPECT_NE(std::memcmp(examples.batch(one, 4).pictures.rows.data(), alone.pictures.rows.data(),
                          part * 4),
              0);
}

// Boxes go where the picture goes: their middles are bright, being those of shapes.
TEST(DetectExamples, BoxesFollowTheirPictures) {
    const TestFolder folder;
    DetectExamples examples = made_examples(folder.path());
    examples.augment.colour = 0;
    const std::int64_t all[] = {0, 1, 2, 3};
    int seen = 0;
    for (std::int64_t epoch = 0; epoch < 6; ++epoch) {
        const DetectExamples::Batch b = examples.batch(all, epoch);
        for (std::size_t n = 0; n < 4; ++n)
            for (const Thing& t : b.things[n]) {
                const auto pixel = [](float share) {
                    return std::clamp<std::int64_t>(static_cast<std::int64_t>(share * 48), 0, 47);
                };
                const std::int64_t at =
                    (static_cast<std::int64_t>(n) * 48 + pixel(t.box[1])) * 48 + pixel(t.box[0]);
                // 110 of 255 under ImageNet's scaling is about −0.2; the ground is below −0.6.
                EXPECT_GT(b.pictures.rows.data()[3 * at], -0.45f) << epoch << " " << n;
                EXPECT_LE(t.box[0] + t.box[2] / 2, 1.0001f);
                EXPECT_GE(t.box[0] - t.box[2] / 2, -0.0001f);
                ++seen;
            }
    }
    EXPECT_GT(seen, 30);
}

// As models want it that learn from whole pictures.
TEST(DetectExamples, UnchangedWholePicturesAreShownWhole) {
    const TestFolder folder;
    DetectExamples examples = made_examples(folder.path());
    examples.augment = {};
    examples.reads.share = 0.5;
    examples.sides = examples.reads.sides(64, 64, 1);
    const std::int64_t one[] = {1};
    const DetectExamples::Batch b = examples.batch(one, 0);
    EXPECT_EQ(b.pictures.grid, (Grid{1, 32, 32}));
    const BoxedPicture& record = examples.records[1];
    ASSERT_EQ(b.things[0].size(), record.things.size());
    for (std::size_t i = 0; i < record.things.size(); ++i) {
        const PictureBox& box = record.things[i].box;
        EXPECT_NEAR(b.things[0][i].box[0], (box.left + box.right) / 2 / 64, 1e-6);
        EXPECT_NEAR(b.things[0][i].box[3], (box.bottom - box.top) / 64, 1e-6);
    }
    // Cut from the middle to what is wider than high; never turned on its side.
    examples.augment = {.mirror = true, .turns = true};
    examples.sides = {16, 32};
    for (std::int64_t epoch = 0; epoch < 8; ++epoch) {
        const PictureThings things = examples.batch(one, epoch).things[0];
        for (const Thing& t : things) {
            EXPECT_LE(t.box[0] + t.box[2] / 2, 1.0001f);
            EXPECT_LE(t.box[1] + t.box[3] / 2, 1.0001f);
        }
    }
}

TEST(Detect, DetrIsSavedAndOpened) {
    const TestFolder folder;
    ModelFolder made;
    made.labels = {"disc", "square"};
    made.config = find_detection_model("detr")->new_config(
        {.layers = 1, .decoder_layers = 2, .width = 16, .heads = 2, .ffn = 24, .queries = 5});
    ReadingSize reads;
    reads.shortest = 48;
    reads.longest = 100;
    const DetectModel model = DetectModel::create(made, reads, 3);
    EXPECT_TRUE(model.network->whole_pictures);
    model.save(folder / "model", false);
    const DetectModel again = DetectModel::open(ModelFolder::open(folder / "model"));
    EXPECT_EQ(again.reads.shortest, 48);
    EXPECT_EQ(again.folder.preprocessor["image_processor_type"], "DetrImageProcessor");
    const Picture picture = made_boxes({.size = 64, .kinds = 2}, 0).picture;
    ASSERT_EQ(model.find(picture).size(), 5u);
    EXPECT_TRUE(same(again.find(picture), model.find(picture)));
    ModelFolder::NewHead report;
    const DetectModel other =
        DetectModel::create_from(ModelFolder::open(folder / "model"), {"a", "b", "c"}, 5, report);
    EXPECT_EQ(report.made.size(), 2u);
    EXPECT_EQ(other.store->at("class_labels_classifier.bias").size(), 4);
}

TEST(Detect, SizesAtWhichPicturesAreRead) {
    ReadingSize r;
    r.share = 0.5;
    EXPECT_EQ(r.sides(480, 640, 1).width, 320u);
    EXPECT_EQ(r.sides(1, 1, 32).height, 32u);
    const ReadingSize detr = ReadingSize::of(
        Json::parse(R"({"do_resize": true, "size": {"shortest_edge": 800, "longest_edge": 1333}})"),
        "preprocessor_config.json");
    // get_size_with_aspect_ratio of transformers 5.22.2
    const std::uint32_t sizes[][4] = {{480, 640, 800, 1066},  {640, 480, 1066, 800},
                                      {300, 1000, 400, 1333}, {1000, 301, 1333, 401},
                                      {800, 900, 800, 900},   {333, 500, 800, 1201}};
    for (const auto& [height, width, high, wide] : sizes) {
        EXPECT_EQ(detr.sides(height, width, 1).height, high) << height << " x " << width;
        EXPECT_EQ(detr.sides(height, width, 1).width, wide) << height << " x " << width;
    }
    const ReadingSize older = ReadingSize::of(Json::parse(R"({"size": 800, "max_size": 1333})"),
                                              "preprocessor_config.json");
    EXPECT_EQ(older.shortest, 800);
    EXPECT_EQ(older.longest, 1333);
    Json j;
    detr.put(j);
    EXPECT_EQ(ReadingSize::of(j, "again").longest, 1333);
}

TEST(Detect, DrawsFramesAndNames) {
    const Picture grey = blank_picture(40, 60, 1, "test");
    const FoundBox found[] = {{{10, 20, 30, 15}, 1, 0.87}};
    const std::vector<std::string> labels{"a", "bé"};
    const Picture drawn = draw_boxes(grey, found, labels);
    EXPECT_EQ(drawn.channels, 3u);
    EXPECT_EQ(drawn.at(20, 10)[2], 230);  // the frame, in the label's colour
    EXPECT_EQ(drawn.at(34, 39)[2], 230);
    EXPECT_EQ(drawn.at(28, 25)[2], 0);    // nothing inside
    EXPECT_EQ(drawn.at(12, 11)[0], 255);  // the first dot of the letter B
}

}  // namespace
}  // namespace fovea
