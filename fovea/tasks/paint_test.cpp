#include "fovea/tasks/paint.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

PaintModel small_painter(std::uint32_t height = 5, std::uint32_t width = 4) {
    return PaintModel::create({.layers = 2,
                               .width = 12,
                               .heads = 2,
                               .attention = "hybrid:6",
                               .picture_height = height,
                               .picture_width = width},
                              {"dark", "light"}, 3);
}

Picture noise(std::uint32_t height, std::uint32_t width, std::uint64_t seed) {
    Rng rng(seed);
    Picture p = blank_picture(height, width, 1, "noise");
    for (std::uint8_t& v : p.pixels) v = static_cast<std::uint8_t>(rng.below(256));
    return p;
}

TEST(Paint, APictureCostsTheSameAloneInABatchAndByAnyThreads) {
    const PaintModel m = small_painter();
    std::vector<Picture> pictures;
    std::vector<std::size_t> labels;
    for (std::uint64_t i = 0; i < 19; ++i) {
        pictures.push_back(noise(5, 4, i));
        labels.push_back(i % 2);
    }
    const std::vector<double> all = nats_of_pictures(m, pictures, labels);
    ASSERT_EQ(all.size(), 19u);
    for (const int threads : {1, 3}) {
        set_thread_count(threads);
        const SplitPieces pieces(threads);
        for (const std::size_t i : {0u, 7u, 18u})
            EXPECT_EQ(nats_of_pictures(m, {&pictures[i], 1}, {&labels[i], 1})[0], all[i]);
    }
    set_thread_count(0);
    const std::size_t other = 1;  // the class counts
    EXPECT_NE(nats_of_pictures(m, {&pictures[0], 1}, {&other, 1})[0], all[0]);
}

// All pictures of two pixels together have the probability that the classes leave them.
TEST(Paint, ProbabilitiesOfAllPicturesAddUp) {
    const PaintModel m = small_painter(1, 2);
    std::vector<Picture> all;
    for (int a = 0; a < 256; ++a)
        for (int b = 0; b < 256; ++b) {
            all.push_back(blank_picture(1, 2, 1, "two"));
            all.back().pixels = {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)};
        }
    const std::vector<std::size_t> labels(all.size(), 0);
    double sum = 0;
    for (const double nats : nats_of_pictures(m, all, labels)) sum += std::exp(-nats);
    EXPECT_LT(sum, 1.0);
    EXPECT_NEAR(sum, std::pow(256.0 / 258.0, 2), 2e-3);
}

TEST(Paint, SamplesDependOnSeedAndNumberAlone) {
    const PaintModel m = small_painter();
    std::vector<PaintRequest> requests;
    for (std::uint64_t i = 0; i < 7; ++i) requests.push_back({.label = i % 2, .number = i});
    SearchOptions search;
    search.seed = 5;
    const std::vector<Picture> once = paint(m, requests, search, 64);
    EXPECT_EQ(paint(m, requests, search, 1), once);
    EXPECT_EQ(paint(m, requests, search, 3), once);
    EXPECT_EQ(paint(m, std::span(requests).subspan(4, 1), search)[0], once[4]);
    EXPECT_NE(once[0], once[2]);
    search.seed = 6;
    EXPECT_NE(paint(m, requests, search, 64), once);
    search.top_k = 1;  // nothing is left to chance
    const std::vector<Picture> best = paint(m, requests, search);
    EXPECT_EQ(best[0], best[2]);
}

TEST(Paint, ACompletionKeepsTheRowsThatAreGiven) {
    const PaintModel m = small_painter();
    const Picture begun = noise(5, 4, 9);
    const PaintRequest requests[] = {
        {.label = 1, .number = 0, .begun = &begun, .given_rows = 3},
        {.label = 1, .number = 0, .begun = &begun, .given_rows = 5},
    };
    const std::vector<Picture> done = paint(m, requests, {});
    EXPECT_TRUE(
        std::equal(begun.pixels.begin(), begun.pixels.begin() + 12, done[0].pixels.begin()));
    EXPECT_NE(done[0], begun);
    EXPECT_EQ(done[1], begun);
}

TEST(Paint, ASavedModelIsTheSame) {
    const TestFolder folder;
    const PaintModel m = small_painter();
    m.save(folder / "model");
    const PaintModel again = PaintModel::open(ModelFolder::open(folder / "model"));
    const Picture p = noise(5, 4, 1);
    const std::size_t label = 0;
    EXPECT_EQ(nats_of_pictures(again, {&p, 1}, {&label, 1}),
              nats_of_pictures(m, {&p, 1}, {&label, 1}));
    EXPECT_EQ(again.folder.labels, m.folder.labels);
    EXPECT_THROW(again.class_of("grey"), Error);
}

TEST(Paint, IndependentPixelsAreCounted) {
    const auto one = [](std::uint8_t v) {
        Picture p = blank_picture(1, 1, 1, "one");
        p.pixels[0] = v;
        return p;
    };
    const std::vector<Picture> known{one(7), one(7), one(7), one(9)};
    const Picture told[] = {one(7), one(0)};
    EXPECT_NEAR(independent_bits(known, told), -(std::log2(4.0 / 260) + std::log2(1.0 / 260)) / 2,
                1e-12);
}

}  // namespace
}  // namespace fovea
