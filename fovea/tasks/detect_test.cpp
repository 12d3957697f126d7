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
    e.size = 48;
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

TEST(Detect, SizesAtWhichPicturesAreRead) {
    ReadingSize r;
    r.share = 0.5;
    EXPECT_EQ(r.sides(480, 640, 1).width, 320u);
    EXPECT_EQ(r.sides(1, 1, 32).height, 32u);
    const ReadingSize detr = ReadingSize::of(
        Json::parse(R"({"do_resize": true, "size": {"shortest_edge": 800, "longest_edge": 1333}})"),
        "preprocessor_config.json");
    EXPECT_EQ(detr.sides(480, 640, 1).height, 800u);
    EXPECT_EQ(detr.sides(480, 640, 1).width, 1066u);
    EXPECT_EQ(detr.sides(640, 480, 1).height, 1066u);
    EXPECT_EQ(detr.sides(400, 2000, 1).width, 1333u);
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
