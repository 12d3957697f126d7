#include "fovea/models/detector.h"

#include <gtest/gtest.h>

#include <cstring>

#include "fovea/autograd/tape.h"
#include "fovea/base/threads.h"
#include "fovea/models/detector_decoder.h"

namespace fovea {
namespace {

DetectionPictures noise_pictures(std::int64_t count, std::int64_t height, std::int64_t width) {
    Rng rng(4);
    DetectionPictures p;
    p.grid = {count, height, width};
    p.rows = Tensor({p.grid.rows(), 3});
    for (std::int64_t i = 0; i < p.rows.size(); ++i)
        p.rows.write()[i] = static_cast<float>(rng.uniform(-1, 1));
    for (std::int64_t i = 0; i < count; ++i) p.samples.push_back(static_cast<std::uint64_t>(i));
    return p;
}

DetectionPictures one_of(const DetectionPictures& all, std::size_t i) {
    const auto each = static_cast<std::size_t>(all.grid.area() * 3);
    DetectionPictures p;
    p.grid = {1, all.grid.height, all.grid.width};
    p.rows = Tensor::of({p.grid.rows(), 3}, all.rows.span().subspan(i * each, each));
    p.samples = {all.samples[i]};
    return p;
}

struct TinyDetector {
    explicit TinyDetector(double dropout = 0, int decoder_layers = 2) {
        Rng rng(1);
        const DetectionModelChoice choice{.layers = 2,
                                          .decoder_layers = decoder_layers,
                                          .width = 16,
                                          .heads = 2,
                                          .ffn = 24,
                                          .queries = 5,
                                          .channels = 3,
                                          .dropout = dropout};
        model = Detector::make(Detector::new_config(choice), "config", 2, Params(store, rng));
        // Heads begin at almost nothing; here every cell should say something else.
        for (const char* name : {"dense.classes.weight", "decoder.classes.weight",
                                 "decoder.boxes.weight", "dense.boxes.weight"}) {
            if (!store.has(name)) continue;
            Tensor w = store.at(name);
            for (std::int64_t i = 0; i < w.size(); ++i) w.write()[i] *= 20;
        }
    }
    ParameterStore store;
    DetectionModel model;
};

const std::vector<PictureThings> some_things{
    {{{0.3f, 0.4f, 0.3f, 0.4f}, 0}, {{0.7f, 0.6f, 0.5f, 0.3f}, 1}},
    {},
    {{{0.5f, 0.5f, 0.9f, 0.8f}, 1}}};

bool same(const std::vector<FoundThing>& a, const std::vector<FoundThing>& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](const FoundThing& x, const FoundThing& y) {
               return x.box == y.box && x.label == y.label && x.score == y.score;
           });
}

TEST(Detector, PicturesTogetherAreAsAlone) {
    const TinyDetector m;
    ASSERT_EQ(m.model.heads, (std::vector<std::string>{"dense", "decoder"}));
    const DetectionPictures pictures = noise_pictures(3, 37, 52);  // no multiples of a cell
    for (const std::string& head : m.model.heads) {
        const auto all = m.model.find(pictures, {.head = head});
        ASSERT_EQ(all.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_FALSE(all[i].empty());
            EXPECT_TRUE(same(m.model.find(one_of(pictures, i), {.head = head})[0], all[i]))
                << head << " " << i;
        }
        EXPECT_LE(m.model.find(pictures, {.head = head, .most = 3})[0].size(), 3u);
        const auto sure = m.model.find(pictures, {.head = head, .least = 0.2f});
        for (const FoundThing& t : sure[0]) EXPECT_GE(t.score, 0.2f);
    }
    const TinyDetector alone(0, 0);
    EXPECT_EQ(alone.model.heads, std::vector<std::string>{"dense"});
    EXPECT_FALSE(alone.store.has("decoder.content.weight"));
}

TEST(Detector, OneThreadOrManyTheLossHasTheSameBits) {
    const TinyDetector m(0.2);
    const DetectionPictures pictures = noise_pictures(3, 40, 48);
    const auto run = [&](int threads) {
        const int before = thread_count();
        set_thread_count(threads);
        Rng rng(9);
        Tape tape(rng);
        const Tensor loss = m.model.loss(pictures, some_things);
        const Gradients d = tape.gradients(loss);
        std::vector<float> all = loss.values();
        for (const std::string& name : m.store.names()) {
            const std::vector<float> g = d[m.store.at(name)].values();
            all.insert(all.end(), g.begin(), g.end());
        }
        set_thread_count(before);
        return all;
    };
    const std::vector<float> one = run(1), two = run(2);
    ASSERT_EQ(one.size(), two.size());
    EXPECT_EQ(std::memcmp(one.data(), two.data(), one.size() * sizeof(float)), 0);
}

// A slope against central differences of the loss.
void expect_slopes(const TinyDetector& m, std::initializer_list<const char*> names) {
    const DetectionPictures pictures = noise_pictures(3, 40, 48);
    const auto loss = [&] { return m.model.loss(pictures, some_things); };
    Tape tape;
    const Gradients d = tape.gradients(loss());
    for (const char* name : names) {
        Tensor p = m.store.at(name);
        const std::int64_t at = p.size() / 2;
        const float kept = p.data()[at], step = 2e-3f;
        p.write()[at] = kept + step;
        const double above = loss().item();
        p.write()[at] = kept - step;
        const double below = loss().item();
        p.write()[at] = kept;
        const double slope = (above - below) / (2 * step);
        EXPECT_NEAR(d[p].data()[at], slope, 5e-3 + 0.03 * std::abs(slope)) << name;
    }
}

// The boxes that the decoder starts from are data to it: so the parts below are looked at without
// a decoder. What is chosen or matched does not change with so small a step.
TEST(Detector, EveryPartLearns) {
    expect_slopes(TinyDetector(0, 0),
                  {"encoder.stem.0.convolution.weight", "encoder.layers.0.neighbours.weight",
                   "encoder.layers.1.self_attn.v_proj.weight", "encoder.norm.weight",
                   "dense.tower.1.convolution.weight", "dense.boxes.weight", "dense.classes.bias"});
    expect_slopes(TinyDetector(),
                  {"decoder.content.weight", "decoder.place.weight",
                   "decoder.layers.0.encoder_attn.v_proj.weight", "decoder.layers.1.fc2.weight",
                   "decoder.boxes.weight", "decoder.classes.weight"});
}

TEST(Detector, DropoutIsNamedBySampleAndNotByPlace) {
    const TinyDetector m(0.3);
    const DetectionPictures pictures = noise_pictures(2, 40, 48);
    const auto run = [&](const DetectionPictures& p, std::span<const PictureThings> things) {
        Rng rng(9);
        const Tape tape(rng);
        return m.model.loss(p, things).item();
    };
    // Losses are means over things: those of both pictures together say the same as those alone.
    DetectionPictures twice = pictures;
    twice.samples = {7, 7};
    std::copy_n(pictures.rows.data(), pictures.rows.size() / 2,
                twice.rows.write() + pictures.rows.size() / 2);
    DetectionPictures once = one_of(pictures, 0);
    once.samples = {7};
    const std::vector<PictureThings> two{some_things[0], some_things[0]}, one{some_things[0]};
    EXPECT_NEAR(run(twice, two), run(once, one), 1e-4);
}

TEST(Detector, WhatACellLearns) {
    const Grid cells{1, 4, 6}, pixels{1, 32, 48};
    // A large thing in the middle, a small one in its middle, and one smaller than a cell.
    const PictureThings things{{{0.5f, 0.5f, 1.0f, 1.0f}, 0},
                               {{0.5f, 0.5f, 0.1f, 0.1f}, 1},
                               {{0.01f, 0.99f, 0.01f, 0.01f}, 1}};
    const std::vector<int> found = cell_things(things, cells, pixels, 0.4);
    ASSERT_EQ(found.size(), 24u);
    EXPECT_EQ(found[2 * 6 + 3], 1);  // the smaller one wins
    EXPECT_EQ(found[1 * 6 + 2], 0);
    EXPECT_EQ(found[3 * 6 + 0], 2);  // at least the cell of its centre
    EXPECT_EQ(found[0], -1);
    EXPECT_EQ(std::count(found.begin(), found.end(), 2), 1);
}

TEST(Detector, ACutKnowsWhereItLies) {
    const TinyDetector m;
    DetectorConfig c;
    c.d_model = 16;
    c.num_heads = 2;
    c.encoder_layers = 1;
    ParameterStore store;
    Rng rng(1);
    const DetectorEncoder encoder(c, Params(store, rng));
    DetectionPictures whole = noise_pictures(1, 48, 48), cut = noise_pictures(1, 24, 24);
    cut.corners = {{16, 8}};
    const CellRows a = encoder(whole), b = encoder(cut);
    const auto row = [](const CellRows& cells, std::int64_t y, std::int64_t x) {
        const float* from = cells.code.data() + (y * cells.grid.width + x) * 16;
        return std::vector<float>(from, from + 16);
    };
    EXPECT_EQ(row(a, 3, 2), row(b, 1, 1));
    EXPECT_NE(row(a, 1, 1), row(b, 1, 1));
}

TEST(BoxSearch, KeepsTheSurestOfThoseThatOverlap) {
    EXPECT_FLOAT_EQ(share_overlap({0.5f, 0.5f, 0.2f, 0.2f}, {0.6f, 0.5f, 0.2f, 0.2f}), 1.0f / 3);
    EXPECT_EQ(share_overlap({0.2f, 0.5f, 0.2f, 0.2f}, {0.6f, 0.5f, 0.2f, 0.2f}), 0);
    const std::vector<ScoredBox> boxes{{{0.5f, 0.5f, 0.2f, 0.2f}, 0.3f, 0, 0},
                                       {{0.51f, 0.5f, 0.2f, 0.2f}, 0.9f, 0, 1},
                                       {{0.5f, 0.5f, 0.2f, 0.2f}, 0.5f, 1, 2},
                                       {{0.1f, 0.1f, 0.1f, 0.1f}, 0.2f, 0, 3}};
    const auto rows = [](const std::vector<ScoredBox>& kept) {
        std::vector<int> all;
        for (const ScoredBox& b : kept) all.push_back(b.row);
        return all;
    };
    EXPECT_EQ(rows(surest_boxes(boxes, 0.5f, 9)), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(rows(surest_boxes(boxes, 0.5f, 9, true)), (std::vector<int>{1, 3}));
    EXPECT_EQ(rows(surest_boxes(boxes, 1.0f, 2)), (std::vector<int>{1, 2}));
}

TEST(Detector, BadConfigsAreRefused) {
    const std::pair<const char*, const char*> table[] = {
        {R"({"d_model": 0})", "d_model"},
        {R"({"d_model": 12, "num_heads": 2})", "multiple of 8"},
        {R"({"d_model": 16, "num_heads": 3})", "3 heads"},
        {R"({"encoder_layers": 0})", "encoder_layers"},
        {R"({"decoder_layers": -1})", "decoder_layers"},
        {R"({"num_queries": 1000000})", "num_queries"},
        {R"({"reach": 0})", "reach"},
        {R"({"shrunk": 2})", "shrunk"},
        {R"({"num_channels": 17})", "num_channels"},
        {R"({"dropout": 1})", "dropout"},
    };
    for (const auto& [text, words] : table) {
        try {
            DetectorConfig::from_json(Json::parse(text), "config.json");
            ADD_FAILURE() << text;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        }
    }
    try {
        detection_model_of({{"model_type", "magic"}}, "config.json");
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(e.hint().find("fovea_detector"), std::string::npos);
    }
}

}  // namespace
}  // namespace fovea
