#include "fovea/tasks/segment.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "fovea/data/made_shapes.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"
#include "fovea/tasks/segment_examples.h"

namespace fovea {
namespace {

SegformerConfig tiny_config() {
    SegformerConfig c;
    c.depths = {1, 1};
    c.sr_ratios = {4, 1};
    c.hidden_sizes = {8, 16};
    c.patch_sizes = {7, 3};
    c.strides = {4, 2};
    c.num_attention_heads = {1, 2};
    c.mlp_ratios = {2, 2};
    c.decoder_hidden_size = 16;
    c.labels = {"background", "disc"};
    return c;
}

SegmentModel tiny_model() {
    return SegmentModel::create(tiny_config(), mask_values_of({{0, 1}, {255, 1}}, "test"), 3);
}

TEST(Segment, APictureIsAnsweredTheSameWhateverItsNeighbours) {
    const TestFolder folder;
    write_made_shapes({.count = 3, .size = 40, .kinds = 1, .seed = 1}, folder.path());
    const SegmentModel model = tiny_model();
    std::vector<Picture> pictures;
    for (const MaskedPicture& r : read_masked({.paths = {folder.path()}}))
        pictures.push_back(read_picture(r.picture));
    pictures.push_back(blank_picture(5, 70, 3, "small"));  // smaller than the network takes
    const std::vector<SegmentedPicture> all = segment(model, pictures);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[3].labels.size(), 5u * 70);
    std::vector<std::thread> threads;  // and from several threads at once
    for (std::size_t i = 0; i < pictures.size(); ++i)
        threads.emplace_back([&, i] {
            const auto alone = segment(model, {&pictures[i], 1});
            EXPECT_EQ(alone[0].labels, all[i].labels);
        });
    for (std::thread& t : threads) t.join();
}

TEST(Segment, SavedAndOpenedAgainItIsTheSame) {
    const TestFolder folder;
    const SegmentModel model = tiny_model();
    model.save(folder / "model", false);
    const SegmentModel again = SegmentModel::open(ModelFolder::open(folder / "model"));
    EXPECT_EQ(again.folder.task, "segment");
    EXPECT_EQ(again.values.values, model.values.values);
    EXPECT_EQ(again.scaling.mean, model.scaling.mean);
    const Picture picture = blank_picture(37, 41, 3, "test");
    const Tensor a = model.logits(picture), b = again.logits(picture);
    ASSERT_EQ(a.size(), 37 * 41 * 2);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * 4), 0);
}

TEST(SegmentExamples, AreDrawnByEpochAndSampleAlone) {
    const TestFolder folder;
    write_made_shapes({.count = 4, .size = 48, .kinds = 1, .seed = 2}, folder.path());
    SegmentExamples examples;
    examples.records = read_masked({.paths = {folder.path()}});
    examples.values = mask_values_of({{0, 1}, {255, 1}}, "test");
    examples.size = 32;
    const std::int64_t some[] = {2, 0}, one[] = {0};
    const SegmentExamples::Batch both = examples.batch(some, 3), alone = examples.batch(one, 3);
    const auto part = static_cast<std::size_t>(32 * 32 * 3);
    EXPECT_EQ(std::memcmp(both.pixels.data() + part, alone.pixels.data(), part * 4), 0);
    EXPECT_TRUE(
        std::equal(alone.labels.begin(), alone.labels.end(), both.labels.begin() + 32 * 32));
    EXPECT_EQ(both.pixels.row_names()->sample(0), 2u);
    EXPECT_NE(std::memcmp(examples.batch(one, 4).pixels.data(), alone.pixels.data(), part * 4), 0);
}

// The mask goes where the picture goes: bright pixels stay those of the disc.
TEST(SegmentExamples, MasksFollowTheirPictures) {
    const TestFolder folder;
    write_made_shapes({.count = 4, .size = 48, .kinds = 1, .seed = 2}, folder.path());
    SegmentExamples examples;
    examples.records = read_masked({.paths = {folder.path()}});
    examples.values = mask_values_of({{0, 1}, {255, 1}}, "test");
    examples.size = 48;
    const std::int64_t all[] = {0, 1, 2, 3};
    for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
        const SegmentExamples::Batch b = examples.batch(all, epoch);
        for (std::int64_t n = 0; n < 4; ++n) {
            double sum[2] = {}, count[2] = {};
            for (std::int64_t i = n * 48 * 48; i < (n + 1) * 48 * 48; ++i) {
                const std::int32_t label = b.labels[static_cast<std::size_t>(i)];
                if (label > 1) continue;
                sum[label] += b.pixels.data()[3 * i];
                count[label] += 1;
            }
            if (count[1] < 30) continue;  // cut away
            EXPECT_GT(sum[1] / count[1], sum[0] / count[0] + 0.8) << epoch << " " << n;
        }
    }
}

TEST(Segment, DrawsEdgesThrough) {
    const Picture grey = blank_picture(8, 8, 1, "test");
    SegmentedPicture found{8, 8, std::vector<std::uint8_t>(64, 0), {}};
    for (std::size_t y = 2; y < 6; ++y)
        for (std::size_t x = 2; x < 6; ++x) found.labels[y * 8 + x] = 1;
    const Picture drawn = draw_masks(grey, found);
    EXPECT_EQ(drawn.channels, 3u);
    EXPECT_EQ(drawn.at(0, 0)[0], 0);
    EXPECT_EQ(drawn.at(2, 2)[0], 230);
    EXPECT_EQ(drawn.at(3, 3)[0], 76);
}

}  // namespace
}  // namespace fovea
