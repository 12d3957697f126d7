// Tiny DETRs with random weights (basic layers with auxiliary losses, bottlenecks without): the
// same logits, boxes, matches, loss, gradients and ten training steps as Hugging Face transformers
// in float64; and what must hold for every model here.
#include <gtest/gtest.h>

#include <cstring>

#include "fovea/base/files.h"
#include "fovea/base/threads.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/detr.h"
#include "tests/parity/golden_compare.h"
#include "tests/parity/picture_rows.h"

namespace fovea {
namespace {

constexpr int label_count = 3;

struct DetrGolden {
    explicit DetrGolden(const std::string& name)
        : folder(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/" + name),
          file(folder + "/golden.safetensors"),
          store(ParameterStore::Mode::load) {
        load_parameters(ModelWeights(folder), Detr::rules(), store);
        const DetrConfig config =
            DetrConfig::from_json(read_json(folder + "/config.json"), "config.json");
        Rng rng;
        model = std::make_unique<Detr>(config, label_count, Params(store, rng));
        store.finish(folder);
        const Tensor planes = file.read("pixels");
        pictures.grid = {planes.shape()[0], planes.shape()[2], planes.shape()[3]};
        pictures.rows = test::rows_of_planes(planes);
        for (std::int64_t i = 0; i < pictures.grid.images; ++i) things.push_back(things_of(i));
    }
    PictureThings things_of(std::int64_t picture) const {
        const Tensor boxes = file.read("boxes." + std::to_string(picture));
        const auto labels = file.read_integers("labels." + std::to_string(picture));
        PictureThings list(labels.size());
        for (std::size_t i = 0; i < list.size(); ++i) {
            std::copy_n(boxes.data() + 4 * i, 4, list[i].box.begin());
            list[i].label = static_cast<int>(labels[i]);
        }
        return list;
    }
    Tensor loss() const { return model->loss(pictures, things); }

    std::string folder;
    TensorFile file;
    ParameterStore store;
    std::unique_ptr<Detr> model;
    DetectionPictures pictures;
    std::vector<PictureThings> things;
};

class DetrParity : public testing::TestWithParam<const char*> {};

TEST_P(DetrParity, LogitsAndBoxes) {
    const DetrGolden g(GetParam());
    const SetPredictions found = (*g.model)(g.pictures).back();
    test::expect_same(found.logits, g.file.read("logits"));
    test::expect_same(found.boxes, g.file.read("boxes"));
}

// The golden has the last layer's matches first.
TEST_P(DetrParity, MatchesOfScipyAtEveryLayer) {
    const DetrGolden g(GetParam());
    const std::vector<SetPredictions> layers = (*g.model)(g.pictures);
    const std::int64_t rows = g.model->config.num_queries;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
        const std::vector<std::int64_t> found =
            matched_things(layers[layer == 0 ? layers.size() - 1 : layer - 1],
                           g.model->queries_of(g.pictures), g.things, g.model->loss_options());
        std::vector<std::int64_t> want(found.size(), -1);
        for (std::int64_t i = 0; i < g.pictures.grid.images; ++i) {
            const auto pairs =
                g.file.read_integers("matches." + std::to_string(layer) + "." + std::to_string(i));
            for (std::size_t k = 0; k < pairs.size() / 2; ++k)
                want[static_cast<std::size_t>(i * rows + pairs[k])] = pairs[pairs.size() / 2 + k];
        }
        EXPECT_EQ(found, want) << "layer " << layer;
    }
}

TEST_P(DetrParity, LossAndEveryGradient) {
    const DetrGolden g(GetParam());
    Tape tape;
    const Tensor loss = g.loss();
    EXPECT_NEAR(loss.item(), g.file.read("loss").item(), 1e-5);
    const Gradients d = tape.gradients(loss);
    std::size_t trained = 0;
    for (const std::string& name : g.store.names()) trained += g.store.at(name).trainable();
    EXPECT_EQ(test::expect_gradients(g.file, g.store, d), trained);
    EXPECT_GT(trained, 60u);
}

TEST_P(DetrParity, TenTrainingSteps) {
    DetrGolden g(GetParam());
    test::expect_ten_steps(g.store, g.file.read("losses"), [&] { return g.loss(); });
}

INSTANTIATE_TEST_SUITE_P(Models, DetrParity, testing::Values("detr-tiny", "detr-bottleneck-tiny"),
                         [](const auto& i) {
                             return std::string(i.param) == "detr-tiny" ? "basic" : "bottleneck";
                         });

std::vector<float> gradient_of(const DetrGolden& g) {
    Tape tape;
    return tape.gradients(g.loss())[g.store.at("model.input_projection.weight")].values();
}

TEST(Detr, ThreadsAndPiecesChangeNoBit) {
    const DetrGolden g("detr-tiny");
    const std::vector<float> one = gradient_of(g);
    set_thread_count(3);
    const SplitPieces split(4);
    EXPECT_EQ(gradient_of(g), one);
    set_thread_count(0);
}

TEST(Detr, NeighboursChangeNoBit) {
    const DetrGolden g("detr-tiny");
    const Tensor together = (*g.model)(g.pictures).back().logits;
    const std::int64_t area = g.pictures.grid.area(), channels = g.pictures.rows.cols();
    for (std::int64_t i = 0; i < 2; ++i) {
        DetectionPictures one{Tensor({area, channels}),
                              {1, g.pictures.grid.height, g.pictures.grid.width}};
        std::copy_n(g.pictures.rows.data() + i * area * channels, area * channels,
                    one.rows.write());
        const Tensor alone = (*g.model)(one).back().logits;
        EXPECT_EQ(std::memcmp(alone.data(), together.data() + i * alone.size(),
                              static_cast<std::size_t>(alone.size()) * 4),
                  0)
            << "picture " << i;
    }
}

TEST(Detr, DropoutIsNamedByTheSample) {
    DetrGolden g("detr-tiny");
    g.model->config.dropout = 0;  // of the whole; layers keep their own
    for (DetrEncoderLayer& layer : g.model->encoder) layer.dropout = 0.3f;
    for (DetrDecoderLayer& layer : g.model->decoder) layer.dropout = 0.3f;
    const auto logits = [&](std::vector<std::uint64_t> samples) {
        Rng rng(5);
        Tape tape(rng);
        g.pictures.samples = std::move(samples);
        return (*g.model)(g.pictures).back().logits.values();
    };
    EXPECT_EQ(logits({7, 8}), logits({7, 8}));
    EXPECT_NE(logits({7, 8}), logits({7, 9}));
}

TEST(Detr, FindsTheSurestFirst) {
    const DetrGolden g("detr-tiny");
    const auto all = g.model->find(g.pictures, {});
    ASSERT_EQ(all.size(), 2u);
    for (const auto& own : all) {
        ASSERT_EQ(own.size(), 6u);
        for (std::size_t i = 1; i < own.size(); ++i) EXPECT_LE(own[i].score, own[i - 1].score);
    }
    EXPECT_EQ(g.model->find(g.pictures, {.most = 2})[0].size(), 2u);
    EXPECT_EQ(g.model->find(g.pictures, {.most = 100, .least = 1.0f})[0].size(), 0u);
    EXPECT_EQ(g.model->find(g.pictures, {.most = 1})[1][0].score, all[1][0].score);
}

TEST(Detr, ConfigGoesRound) {
    const Json config = read_json(std::string(FOVEA_SOURCE_DIR) +
                                  "/tests/goldens/detr-bottleneck-tiny/config.json");
    const Json once = DetrConfig::from_json(config, "config.json").to_json();
    for (const auto& [key, value] : once.items())
        if (key != "backbone_config") {
            EXPECT_EQ(config[key], value) << key;
        }
    for (const auto& [key, value] : once["backbone_config"].items())
        EXPECT_EQ(config["backbone_config"][key], value) << key;
}

struct BadConfig {
    const char* key;  // "backbone_config.KEY" for one of the ResNet
    Json value;
    const char* words;
};

TEST(Detr, BadConfigsSayWhat) {
    const Json good =
        read_json(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/detr-tiny/config.json");
    const BadConfig cases[] = {
        {"use_timm_backbone", true, "timm"},
        {"backbone_config", nullptr, "timm"},
        {"backbone_config.model_type", "swin", "\"swin\""},
        {"backbone_config.depths", Json::array({1}), "\"depths\" has 1"},
        {"backbone_config.hidden_sizes", Json::array({6, 1 << 20}), "hidden_sizes"},
        {"backbone_config.out_features", Json::array({"stage1"}), "last stage"},
        {"backbone_config.layer_type", "wide", "layer_type"},
        {"d_model", 10, "multiple of 4"},
        {"decoder_attention_heads", 5, "5 heads"},
        {"decoder_layers", 0, "decoder_layers"},
        {"num_queries", 1 << 20, "num_queries"},
        {"position_embedding_type", "learned", "\"learned\""},
        {"dilation", true, "dilation"},
        {"eos_coefficient", -1, "eos_coefficient"},
        {"activation_function", "sine", "sine"},
    };
    for (const BadConfig& c : cases) {
        Json bad = good;
        const std::string key = c.key, inside = "backbone_config.";
        if (key.starts_with(inside))
            bad["backbone_config"][key.substr(inside.size())] = c.value;
        else
            bad[key] = c.value;
        try {
            DetrConfig::from_json(bad, "config.json");
            ADD_FAILURE() << key << " is taken";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input) << key;
            EXPECT_NE(std::string(e.what()).find(c.words), std::string::npos)
                << key << ": " << e.what();
        }
    }
}

}  // namespace
}  // namespace fovea
